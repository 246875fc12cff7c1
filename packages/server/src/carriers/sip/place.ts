import type { Answered, CallOutcome, Ended, MediaEngine, OutgoingCall, UserAgent } from '@trunkcall/sip';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import type { CallOrder, CallWatcher, Ending, Leg, Placed, Transferred, TransferOrder } from '../carrier.ts';
import { endingOf, isTrunkFault } from './endings.ts';
import { createLeg } from './leg.ts';
import type { Lines } from './lines.ts';
import type { Recordings } from './recordings.ts';
import type { Route } from './route.ts';
import { Sound } from './sound.ts';
import type { Transferring } from './transfer.ts';

export interface PlaceDependencies {
  readonly agent: UserAgent;
  readonly engine: MediaEngine;
  /** Null: nothing is recorded. */
  readonly recordings: Recordings | null;
  readonly clock: Clock;
  readonly log: Logger;
  readonly lines: Lines;
  /** Where our audio arrives, as trunks see it. */
  readonly mediaAddress: string;
  readonly mediaSilenceMs: number;
  /** Told of each call that left over a trunk, at its end. */
  readonly onTried: (trunk: string, cost: bigint) => void;
  /** Told when an answered call has ended, for its cost. */
  readonly onEnded: (attemptId: string, costs: bigint) => void;
  /** Connects who is on an answered leg with somebody else. */
  readonly transfer: (first: Transferring, order: TransferOrder, signal: AbortSignal) => Promise<Transferred>;
}

/** How long the far end may take to agree that a call is given up, milliseconds; then it is over for us. */
const tearDownMs = 5_000;

export const canceled: Ending = ourEnding('canceled', null);

export function ourEnding(outcome: Ending['outcome'], note: string | null): Ending {
  return { outcome, endedBy: 'us', sipStatus: null, q850: null, note };
}

/** One order, and what its whole way over the trunks shares. */
interface Attempt {
  readonly order: CallOrder;
  readonly watcher: CallWatcher;
  readonly signal: AbortSignal;
  readonly sound: Sound;
  /** Aborts at the end of the leg. */
  readonly over: AbortController;
}

/**
 * Places a call over the first of the routes that does not fail by its own fault (docs/decisions/0011). Never
 * rejects, ends within the ring limit and `tearDownMs`. The attempt's line is given back when the call is over.
 */
export async function placeCall(
  deps: PlaceDependencies,
  routes: readonly Route[],
  order: CallOrder,
  watcher: CallWatcher,
  signal: AbortSignal,
): Promise<Placed<Sound>> {
  const over = new AbortController();
  const sound = await Sound.open({
    engine: deps.engine,
    silenceLimitMs: deps.mediaSilenceMs,
    sleep: (ms) => deps.clock.sleep(ms, over.signal),
  });
  const placed =
    sound === null
      ? ended(ourEnding('carrier_error', 'no media port is free'))
      : await tryRoutes(deps, routes, { order, watcher, signal, sound, over });
  if (placed.kind === 'ended') {
    sound?.close();
    await deps.lines.release(order.attemptId);
  }
  return placed;
}

async function tryRoutes(
  deps: PlaceDependencies,
  routes: readonly Route[],
  attempt: Attempt,
): Promise<Placed<Sound>> {
  const { order, signal } = attempt;
  const endsAt = deps.clock.monotonic() + order.ringLimitMs;
  let ending = ourEnding(
    'carrier_error',
    routes.length === 0 ? 'no trunk is up' : 'no trunk has a free line',
  );
  let begun = false;
  for (const [index, route] of routes.entries()) {
    if (!(await holdsLine(deps, route, order.attemptId, signal))) continue;
    const ringLimitMs = endsAt - deps.clock.monotonic();
    const isGivenUp = signal.aborted || order.mayLeave?.() === false;
    if (isGivenUp) ending = canceled;
    if (isGivenUp || ringLimitMs <= 0) break;
    const call = dial(deps, route, attempt, ringLimitMs);
    if (!begun) attempt.watcher.progress('trying', call.callId);
    begun = true;
    const isLast = index === routes.length - 1;
    const outcome = await settle(deps.clock, call, signal, {
      ringLimitMs,
      firstResponseMs: isLast ? null : route.firstResponseMs,
    });
    if (outcome.kind === 'answered') return { kind: 'answered', leg: answer(deps, outcome, route, attempt) };
    ending = endingOf(outcome, route.trunk.profile, signal.aborted ? 'aborted' : 'waiting');
    deps.onTried(route.trunk.name, 0n);
    if (ending.outcome === 'carrier_error') route.failed(ending);
    if (outcome.sipStatus === 503 && outcome.retryAfterSeconds !== undefined)
      route.rest(outcome.retryAfterSeconds);
    if (!isTrunkFault(outcome, ending)) return ended(ending);
    const { sipStatus, q850, note } = ending;
    deps.log.warn(
      { attempt_id: order.attemptId, trunk: route.trunk.name, sip_status: sipStatus, q850, note },
      'the trunk failed a call',
    );
  }
  return ended(signal.aborted ? canceled : ending);
}

const ended = (ending: Ending): Placed<Sound> => ({ kind: 'ended', ending });

/** Whether the attempt holds a line of the route's trunk, or could take one now. */
async function holdsLine(
  { lines, log }: PlaceDependencies,
  { limits, trunk }: Route,
  attemptId: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (lines.trunkOf(attemptId) === trunk.name) return true;
  try {
    await lines.release(attemptId);
    return (await lines.take(limits, attemptId, signal)).kind === 'taken';
  } catch (error) {
    log.warn({ err: error, attempt_id: attemptId, trunk: trunk.name }, 'no trunk line could be taken');
    return false;
  }
}

/** Sends the INVITE. The user agent takes the call back, or hangs up, when the signal aborts. */
function dial(
  deps: PlaceDependencies,
  route: Route,
  { order, watcher, signal, sound }: Attempt,
  ringLimitMs: number,
): OutgoingCall {
  let rings = false;
  const ringing = () => {
    if (!rings) watcher.progress('ringing', call.callId);
    rings = true;
  };
  sound.onRingback(ringing);
  const call = deps.agent.call({
    ...route.addressing(order.to, order.from, order.attemptId),
    media: route.media(deps.mediaAddress, sound.port),
    ringLimitMs,
    signal,
    onMedia: (media) => sound.connect(media),
    // 183 is any announcement; only its ringing tone tells that the phone rings.
    onProgress: ({ status }) => {
      if (status === 180) ringing();
    },
  });
  return call;
}

interface Limits {
  readonly ringLimitMs: number;
  /** How long nothing at all may come; null waits for the ring limit. */
  readonly firstResponseMs: number | null;
}

/**
 * Waits for the answer or the end. What is given up is over for us after `tearDownMs` at the latest; should it be
 * answered later all the same, the user agent hangs up.
 */
async function settle(
  clock: Clock,
  call: OutgoingCall,
  signal: AbortSignal,
  { ringLimitMs, firstResponseMs }: Limits,
): Promise<CallOutcome> {
  const settled = new AbortController();
  /** The call's own outcome, unless it is not there in time and `late` has one. */
  const within = async (ms: number, late: () => Ended | null): Promise<CallOutcome> => {
    const isLate = await clock.sleep(ms, settled.signal);
    return (isLate ? late() : null) ?? call.outcome;
  };
  const ways = [
    call.outcome,
    within(ringLimitMs + tearDownMs, () => ownEnd('ring_limit', call)),
    aborted(signal, settled.signal).then(() => within(tearDownMs, () => ownEnd('aborted', call))),
  ];
  if (firstResponseMs !== null) {
    ways.push(
      within(firstResponseMs, () => {
        if (call.responded || signal.aborted) return null;
        call.cancel();
        return { kind: 'ended', by: 'network', reason: 'no_response' };
      }),
    );
  }
  const outcome = await Promise.race(ways);
  settled.abort();
  return outcome;
}

const ownEnd = (reason: 'aborted' | 'ring_limit', { responded }: OutgoingCall): Ended => ({
  kind: 'ended',
  by: 'local',
  reason,
  provisional: responded ? 100 : undefined,
});

function answer(
  deps: PlaceDependencies,
  answered: Answered,
  route: Route,
  { order, sound, over }: Attempt,
): Leg<Sound> {
  const { call } = answered;
  const leg = createLeg({
    answered,
    sound,
    clock: deps.clock,
    over,
    transfer: (own, to, signal) =>
      deps.transfer({ call, leg: own, route, order, over: over.signal }, to, signal),
  });
  if (order.recordMs !== undefined && deps.recordings !== null) {
    recordCall(deps.recordings.pathOf(order.attemptId), order, sound, deps.log);
  }
  void leg.ended.then(() => {
    const cost = route.cost(order.to, leg.clock.now());
    deps.onTried(route.trunk.name, cost);
    deps.onEnded(order.attemptId, cost);
    return deps.lines.release(order.attemptId);
  });
  return leg;
}

/** A recording that fails costs the recording, not the call. */
export function recordCall(
  path: string,
  { attemptId, recordMs = 0 }: Pick<CallOrder, 'attemptId' | 'recordMs'>,
  sound: Sound,
  log: Logger,
): void {
  sound.record(path, recordMs, ({ reason }) => {
    if (reason === 'disk_failed' || reason === 'disk_too_slow')
      log.warn({ attempt_id: attemptId, reason }, 'a call was not recorded to its end');
  });
}

/** Resolves when the signal aborts, or when `done` does: then nobody waits any more. */
function aborted(signal: AbortSignal, done: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const either = () => resolve();
    signal.addEventListener('abort', either, { once: true, signal: done });
    done.addEventListener('abort', either, { once: true });
  });
}
