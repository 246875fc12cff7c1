/**
 * Connects who is on a leg with somebody else.
 *
 *   bridge   room ─▶ second call ─▶ answered ─▶ the media engine carries the sound from one to the other
 *   refer    guard, day's limits ─▶ REFER ─▶ the trunk says that it connected them ─▶ we leave
 *
 * Whichever it is, one number is called once; all that guards calls guards this one, too.
 */
import type { TrunkProfile } from '@trunkcall/contract';
import type { Call, ReferOutcome } from '@trunkcall/sip';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type {
  CallOrder,
  CallWatcher,
  Leg,
  Placed,
  Reservation,
  ReservationWish,
  Transferred,
  TransferFailure,
  TransferOrder,
} from '../carrier.ts';
import { transferFailureOf } from '../transfer-failure.ts';
import { endingOf } from './endings.ts';
import { ringbackOf } from './ringback.ts';
import type { Route } from './route.ts';
import type { Sound } from './sound.ts';
import { allows } from './toll-fraud.ts';

/** What the carrier does for any call. */
export interface TransferDependencies {
  readonly clock: Clock;
  readonly log: Logger;
  forbids(phone: string): string | null;
  reserve(wish: ReservationWish, signal: AbortSignal): Promise<Reservation>;
  place(order: CallOrder, watcher: CallWatcher, signal: AbortSignal): Promise<Placed<Sound>>;
  /** Counts a call that takes no line of ours; false when a limit of the day is reached. */
  count(wish: ReservationWish): Promise<boolean>;
}

/** The leg that is transferred, and how its call came about. */
export interface Transferring {
  readonly call: Call;
  readonly leg: Leg<Sound>;
  readonly route: Route;
  readonly order: Pick<CallOrder, 'from' | 'locale' | 'simulation'>;
  /** Aborts at the end of the leg. */
  readonly over: AbortSignal;
}

/** Never rejects. Ends within the ring limit and the tear-down bound of calls. */
export async function transferLeg(
  deps: TransferDependencies,
  first: Transferring,
  order: TransferOrder,
  signal: AbortSignal,
): Promise<Transferred> {
  const stop = AbortSignal.any([signal, first.over]);
  if (stop.aborted) return failed('left');
  if (deps.forbids(order.to) !== null) return failed('not_allowed');
  const way = first.route.trunk.profile?.transfer === 'refer' ? refer : bridge;
  try {
    return await way(deps, first, order, stop);
  } catch (error) {
    deps.log.warn({ err: error, transfer_id: order.transferId }, 'a transfer could not be counted');
    return failed('failed');
  }
}

async function bridge(
  deps: TransferDependencies,
  { leg, order: { from, locale, simulation } }: Transferring,
  order: TransferOrder,
  stop: AbortSignal,
): Promise<Transferred> {
  const { transferId, to, ringLimitMs, mayLeave } = order;
  const room = await deps.reserve(wishOf(order), stop);
  if (room.kind === 'later') return failed('no_line');
  if (room.kind === 'refused') return failed('not_allowed');
  const answered = new AbortController();
  let ringing: Promise<void> = Promise.resolve();
  const watcher: CallWatcher = {
    progress(step) {
      if (step === 'ringing') ringing = ring(deps.clock, leg, to, AbortSignal.any([stop, answered.signal]));
    },
  };
  const second = { attemptId: transferId, to, from, ringLimitMs, locale, mayLeave, simulation };
  const placed = await deps.place(second, watcher, stop);
  answered.abort();
  await ringing;
  if (placed.kind === 'ended') return failed(transferFailureOf(placed.ending));
  return join(leg, placed.leg, stop);
}

/** From now on either of the two ends both. */
function join(first: Leg<Sound>, second: Leg<Sound>, stop: AbortSignal): Transferred {
  if (stop.aborted) {
    void second.hangUp();
    return failed('left');
  }
  first.media.bridge(second.media);
  void first.ended.then(() => second.hangUp());
  void second.ended.then(() => first.hangUp());
  return { kind: 'connected' };
}

/** Lets who waits hear that it rings, until the signal aborts; then nothing of it is left. */
async function ring(clock: Clock, { media }: Leg<Sound>, to: string, signal: AbortSignal): Promise<void> {
  const { sound, everyMs } = ringbackOf(to, media.law);
  while (!signal.aborted) {
    media.play(sound);
    await clock.sleep(everyMs, signal);
  }
  await media.clear();
}

async function refer(
  deps: TransferDependencies,
  { call, leg, route }: Transferring,
  order: TransferOrder,
): Promise<Transferred> {
  // It is this trunk that calls: another one might be allowed to.
  if (!allows(route.trunk, order.to)) return failed('not_allowed');
  if (!(await deps.count(wishOf(order)))) return failed('not_allowed');
  if (!order.mayLeave()) return failed('not_allowed');
  const outcome = await call.refer(route.addressing(order.to, null, order.transferId).to, order.ringLimitMs);
  if (outcome.kind === 'failed') return failed(failureOfRefer(outcome, route.trunk.profile));
  // They talk over the trunk alone; until it agrees that we leave, sound may still come.
  leg.media.withdraw();
  void leg.hangUp();
  return { kind: 'connected' };
}

function failureOfRefer(
  { reason, sipStatus }: Extract<ReferOutcome, { kind: 'failed' }>,
  profile: TrunkProfile | undefined,
): TransferFailure {
  switch (reason) {
    case 'limit':
      return 'no_answer';
    case 'call_ended':
      return 'left';
    case 'refused':
      return 'failed';
    case 'not_connected':
      return transferFailureOf(
        endingOf({ kind: 'ended', by: 'remote', reason: 'rejected', sipStatus, provisional: 180 }, profile),
      );
  }
}

const wishOf = ({ transferId, accountId, to }: TransferOrder): ReservationWish => ({
  attemptId: transferId,
  accountId,
  to,
});

const failed = (why: TransferFailure): Transferred => ({ kind: 'failed', why });
