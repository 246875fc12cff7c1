import type { Answered } from '@trunkcall/sip';
import type { Clock } from '../../platform/clock.ts';
import type { Leg, LegEnd, Transferred, TransferOrder } from '../carrier.ts';
import { legEndOf } from './endings.ts';
import type { Sound } from './sound.ts';

export interface LegParts {
  readonly answered: Answered;
  readonly sound: Sound;
  readonly clock: Clock;
  /** Aborted by the leg when it ends: whatever sleeps on it wakes up. */
  readonly over: AbortController;
  /** Connects the callee with somebody else. */
  readonly transfer: (leg: Leg<Sound>, order: TransferOrder, signal: AbortSignal) => Promise<Transferred>;
}

/**
 * Makes a leg of an answered call. Its clock begins now. The first end counts: the callee's BYE, our hanging up, or
 * the loss of the sound, which hangs up.
 */
export function createLeg({ answered, sound, clock, over, transfer }: LegParts): Leg<Sound> {
  const { call } = answered;
  const answeredAt = clock.monotonic();
  let fault: 'media_failed' | null = null;
  const ended = call.ended.then((end): LegEnd => {
    over.abort();
    sound.close();
    return legEndOf(end, fault);
  });
  const hangUp = () => {
    void call.hangup({ protocol: 'Q.850', cause: 16 });
    return ended;
  };
  sound.answer(answered.media, () => {
    fault ??= 'media_failed';
    void hangUp();
  });
  const leg: Leg<Sound> = {
    quality: () => sound.quality(),
    listenIn: (listener) => sound.listenIn(listener),
    providerCallId: call.callId,
    clock: {
      now: () => clock.monotonic() - answeredAt,
      // One more: a timer may fire up to a millisecond early by the monotonic clock.
      sleep: (ms, signal) =>
        clock.sleep(
          Math.max(0, ms) + 1,
          signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]),
        ),
    },
    media: sound,
    ended,
    hangUp,
    transfer: (order, signal) => transfer(leg, order, signal),
    transferred: sound.withdrawn,
  };
  return leg;
}
