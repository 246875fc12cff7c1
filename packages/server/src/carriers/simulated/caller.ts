/** Simulated people who call one of our numbers. */
import type { CallerBehavior, RefusalReason } from '@trunkcall/contract';
import type { Accepted, AnswerOrder, IncomingHandler, Leg, SpeechMedia } from '../carrier.ts';
import { connect } from './leg.ts';
import { residentOf, type Resident } from './numbers.ts';
import { playPerson } from './people.ts';
import { seededRandom } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';
import { wordingFor } from './wording/wording.ts';

export interface SimulatedRing {
  /** Never used twice: it tells the calls apart. */
  readonly callId: string;
  /** The number of ours, canonical E.164. */
  readonly to: string;
  /** Who calls, canonical E.164; null does not show it. */
  readonly from: string | null;
  /** Absent: as a Goal's own scripted person of that number does, else cooperates. */
  readonly does?: CallerBehavior;
}

/** How a call to us went, as its caller saw it. */
export type Rung =
  | { readonly kind: 'answered' }
  | { readonly kind: 'gave_up' }
  | { readonly kind: 'refused'; readonly reason: RefusalReason };

export interface Ringing {
  /** Null: nobody takes calls. */
  readonly take: IncomingHandler<SpeechMedia> | null;
  readonly time: VirtualTime;
  readonly seed: string;
  readonly closing: AbortSignal;
  readonly onLeg: (leg: Leg<SpeechMedia>) => void;
}

export function ringNumber(ring: SimulatedRing, ringing: Ringing): Promise<Rung> {
  const { take } = ringing;
  const settled = Promise.withResolvers<Rung>();
  const withdrawn = new AbortController();
  let state: 'ringing' | 'answered' | 'over' = 'ringing';

  function end(rung: Rung): void {
    if (state !== 'ringing') return;
    state = 'over';
    withdrawn.abort();
    settled.resolve(rung);
  }

  function accept(order: AnswerOrder, signal: AbortSignal): Accepted<SpeechMedia> {
    if (signal.aborted) end({ kind: 'refused', reason: 'unavailable' });
    if (state !== 'ringing') return { kind: 'gave_up' };
    state = 'answered';
    const leg = pickUp(ring, ringing, order, AbortSignal.any([signal, ringing.closing]));
    ringing.onLeg(leg);
    settled.resolve({ kind: 'answered' });
    return { kind: 'answered', leg };
  }

  if (take === null) return Promise.resolve({ kind: 'refused', reason: 'unavailable' });
  ringing.closing.addEventListener('abort', () => end({ kind: 'gave_up' }), { once: true });
  take({
    providerCallId: ring.callId,
    identity: ring.callId,
    to: [ring.to],
    from: ring.from,
    trunk: null,
    signal: withdrawn.signal,
    ring() {
      // Whoever waits for that hangs up as soon as it rings.
      if (ring.does === 'gives_up') end({ kind: 'gave_up' });
    },
    accept: (order, signal) => Promise.resolve(accept(order, signal)),
    reject: ({ reason }) => end({ kind: 'refused', reason }),
  });
  return settled.promise;
}

function pickUp(
  ring: SimulatedRing,
  { time, seed }: Ringing,
  order: AnswerOrder,
  signal: AbortSignal,
): Leg<SpeechMedia> {
  const random = seededRandom(`${seed} ${ring.from ?? 'anonymous'}`);
  const resident = callerOf(ring, order);
  const wording = wordingFor(order.locale);
  return connect({ time, providerCallId: ring.callId, signal, seed, simulation: order.simulation }, (line) =>
    playPerson(line, resident, wording, random, true),
  );
}

/** Numbers stand for what a phone does when it is called; only a Goal's own people keep theirs as callers. */
function callerOf({ from, does }: SimulatedRing, { simulation }: AnswerOrder): Resident {
  const scripted = residentOf(from ?? '', simulation);
  const wanted = does === undefined || does === 'gives_up' ? undefined : does;
  const isScripted = simulation.callees.some(({ phone }) => phone === from);
  return { ...scripted, does: wanted ?? (isScripted ? scripted.does : 'cooperates') };
}
