/**
 * The SIP carrier: places calls over trunks, and takes those that trunks bring.
 *
 *   place ─▶ guard ─▶ routes (allowed, up, in the order of the settings) ─▶ line ─▶ INVITE ─▶ Leg
 *   INVITE ─▶ allowed address ─▶ rate of the trunk ─▶ Incoming ─▶ 200 ─▶ Leg
 *
 * One user agent and one media engine serve all trunks. The limits on trunks and numbers hold over all processes;
 * they are behind `TrunkSlots`.
 */
import type { SipSettings, Trunk } from '@trunkcall/contract';
import {
  createUserAgent,
  type IncomingCall,
  startMediaEngine,
  type Network,
  type TimerSettings,
  type UserAgent,
} from '@trunkcall/sip';
import { getCountryCallingCode, isSupportedCountry } from 'libphonenumber-js/max';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { TokenBuckets } from '../../platform/token-buckets.ts';
import type {
  AudioMedia,
  CallOrder,
  CallWatcher,
  Carrier,
  IncomingHandler,
  Placed,
  Reach,
  Reservation,
  ReservationWish,
} from '../carrier.ts';
import { createAllowList, openEndpoint } from './endpoint.ts';
import { incomingOf, refuse, type IncomingDependencies } from './incoming.ts';
import { Lines } from './lines.ts';
import { Payers } from './payers.ts';
import { canceled, ourEnding, placeCall, type PlaceDependencies } from './place.ts';
import { keepRecordings, type RecordingsOptions } from './recordings.ts';
import { Route } from './route.ts';
import type { DailyLimits, Taken, TrunkSlots } from './slots.ts';
import type { Sound } from './sound.ts';
import { allows, reachesCountry, whyForbidden } from './toll-fraud.ts';
import { transferLeg, type TransferDependencies } from './transfer.ts';

export interface SipCarrierOptions {
  /** At least one, as `readTrunks` gives them. */
  readonly trunks: readonly Trunk[];
  readonly sip: SipSettings;
  readonly clock: Clock;
  readonly log: Logger;
  readonly slots: TrunkSlots;
  readonly dailyLimits: DailyLimits;
  /** Whether a number is one of ours, beside the caller numbers of the trunks. */
  readonly isOurs?: (phone: string) => boolean;
  /** Where calls are recorded that are to be; without it nothing is. */
  readonly recordings?: Pick<RecordingsOptions, 'directory' | 'retentionDays'>;
  /** Told that the media engine died: no call can be placed any more, and the process must end. */
  readonly onFatal: (error: Error) => void;
  /** Of SIP's retransmission; for tests. */
  readonly timers?: Partial<TimerSettings>;
}

export interface SipCarrier extends Carrier<AudioMedia> {
  /** Where UDP requests from trunks arrive, as the trunks see it: `host:port`. */
  readonly address: string;
}

/** What the trunks may call. `isOurs`: see SipCarrierOptions. */
export function sipReach(
  trunks: readonly Trunk[],
  isOurs: (phone: string) => boolean = () => false,
): Reach<AudioMedia> {
  return {
    name: 'sip',
    media: 'audio',
    forbids: (phone) => whyForbidden(trunks, phone, isOurs),
    reaches: (country) =>
      isSupportedCountry(country) && reachesCountry(trunks, country, getCountryCallingCode(country))
        ? { ok: true }
        : { ok: false, reason: 'no trunk may call this country' },
  };
}

const defaultMediaPorts = { first: 16_384, last: 32_767 };
const defaultMediaSilenceSeconds = 30;
/** Calls that a trunk may bring at once, whatever its rate. */
const incomingBurst = 10;
/** How long an inbound call may wait for its answer before it is refused, milliseconds. */
const inboundRingLimitMs = 30_000;
/** What a caller is told to wait when this process takes no calls yet, or any more, seconds. */
const incomingPauseSeconds = 5;
/** Stands for a port while an offer is only looked at (RFC 863). */
const discardPort = 9;
const closedEnding = ourEnding('carrier_error', 'the carrier is closed');
const forbiddenEnding = ourEnding('carrier_error', 'the number is not allowed');

/**
 * Opens the sockets and begins to register and to watch the trunks.
 *
 * Throws: TrunkProblem; the system's error of a port in use; DatabaseUnavailable of `slots`. Nothing stays open then.
 */
export async function createSipCarrier(options: SipCarrierOptions): Promise<SipCarrier> {
  const { trunks, sip, clock, log, slots } = options;
  const routes = trunks.map((trunk) => new Route(trunk, clock));
  await slots.prepare(routes.map(({ limits }) => limits));
  const recordings =
    options.recordings === undefined ? null : await keepRecordings({ ...options.recordings, clock, log });
  const network = await openEndpoint(trunks, sip);
  /** Null: nobody takes calls yet, or any more. Another process may. */
  let takes: IncomingHandler<AudioMedia> | null = null;
  const agent = openAgent(network, options, (call, trunk) => take(call, trunk));
  const engine = startMediaEngine({
    address: sip.bind ?? '',
    ports: sip.media_ports ?? defaultMediaPorts,
  });
  void engine.stopped.then((error) => {
    if (error !== undefined) options.onFatal(error);
  });
  for (const route of routes) route.start(agent, log);
  const lines = new Lines(slots, clock, log);
  const payers = new Payers(slots, options.dailyLimits, log);
  const reach = sipReach(trunks, options.isOurs);
  const routesTo = (phone: string, only: string | undefined) =>
    routes.filter(({ trunk }) => allows(trunk, phone) && (only === undefined || trunk.name === only));
  /** An order for one trunk is to find out how it is: a trunk that seems down is tried, one that asked for a pause is not. */
  const pauseOf = (route: Route, only: string | undefined) =>
    only === undefined ? route.pauseMs : route.restMs;
  const deps: PlaceDependencies = {
    agent,
    engine,
    clock,
    log,
    lines,
    recordings,
    mediaAddress: sip.public_address ?? sip.bind ?? '',
    mediaSilenceMs: (sip.media_silence_seconds ?? defaultMediaSilenceSeconds) * 1_000,
    onTried: (trunk, cost) => void track(payers.count(trunk, cost)),
    onEnded: (attemptId, cost) => void track(payers.charge(attemptId, cost)),
    transfer: (first, order, signal) => track(transferLeg(transfers, first, order, signal)),
  };
  const transfers: TransferDependencies = {
    clock,
    log,
    forbids: (phone) => reach.forbids(phone),
    reserve,
    place,
    count,
  };
  const incoming: IncomingDependencies = { ...deps, track };
  const brought = new Map(
    routes.map((route) => {
      const perSecond = route.trunk.calls_per_second;
      const rate = { perSecond, burst: Math.max(incomingBurst, 2 * perSecond) };
      return [route.trunk.name, { route, rate: new TokenBuckets(clock, rate, 1) }];
    }),
  );
  /** What closing waits for. */
  const works = new Set<Promise<unknown>>();
  let closed: Promise<void> | undefined;

  function track<T>(work: Promise<T>): Promise<T> {
    works.add(work);
    // Whoever asked for it is told of its failure.
    void work.catch(() => undefined).finally(() => works.delete(work));
    return work;
  }

  /** Hands on what a trunk brings, as far as its rate allows. */
  function take(call: IncomingCall, trunk: Trunk): void {
    const from = brought.get(trunk.name);
    const waitSeconds =
      from === undefined || takes === null ? incomingPauseSeconds : from.rate.take(trunk.name);
    if (from === undefined || takes === null || waitSeconds > 0) {
      return refuse(call, trunk, { reason: 'unavailable', retryAfterSeconds: waitSeconds });
    }
    // Nobody can hear it: it must leave no run.
    if (!call.fits(from.route.media(deps.mediaAddress, discardPort))) {
      log.info({ trunk: trunk.name, sip_status: 488 }, 'inbound call refused: no common media');
      return call.reject(488);
    }
    takes(incomingOf(incoming, call, from.route));
  }

  async function release(attemptId: string): Promise<void> {
    payers.forget(attemptId);
    await lines.release(attemptId);
  }

  async function admit(wish: ReservationWish): Promise<Reservation> {
    const { attemptId } = wish;
    let isAdmitted = false;
    try {
      isAdmitted = await payers.admit(wish);
    } finally {
      if (!isAdmitted) await lines.release(attemptId);
    }
    return isAdmitted
      ? { kind: 'ready', release: () => release(attemptId) }
      : { kind: 'refused', why: 'daily_limit' };
  }

  async function count(wish: ReservationWish): Promise<boolean> {
    const isAdmitted = await payers.admit(wish);
    // What it costs only the trunk knows.
    payers.forget(wish.attemptId);
    return isAdmitted;
  }

  async function reserve(wish: ReservationWish, signal: AbortSignal): Promise<Reservation> {
    if (reach.forbids(wish.to) !== null) return { kind: 'refused', why: 'not_allowed' };
    let inMs = Infinity;
    const open = routesTo(wish.to, wish.trunk);
    if (open.length === 0) return { kind: 'refused', why: 'not_allowed' };
    for (const route of open) {
      const pauseMs = pauseOf(route, wish.trunk);
      const taken: Taken =
        pauseMs > 0
          ? { kind: 'later', inMs: pauseMs }
          : await lines.take(route.limits, wish.attemptId, signal);
      if (taken.kind === 'taken') return admit(wish);
      inMs = Math.min(inMs, taken.inMs);
    }
    return { kind: 'later', inMs: Math.ceil(inMs) };
  }

  async function place(order: CallOrder, watcher: CallWatcher, signal: AbortSignal): Promise<Placed<Sound>> {
    if (closed !== undefined) return { kind: 'ended', ending: closedEnding };
    if (signal.aborted || reach.forbids(order.to) !== null) {
      await release(order.attemptId);
      return { kind: 'ended', ending: signal.aborted ? canceled : forbiddenEnding };
    }
    const held = lines.trunkOf(order.attemptId);
    const open = routesTo(order.to, order.trunk).filter(
      (route) => pauseOf(route, order.trunk) === 0 || route.trunk.name === held,
    );
    // The trunk whose line was reserved goes first: those before it had none.
    const sorted = open.toSorted((a, b) => Number(b.trunk.name === held) - Number(a.trunk.name === held));
    const placed = await track(placeCall(deps, sorted, order, watcher, signal));
    if (placed.kind === 'ended') payers.forget(order.attemptId);
    return placed;
  }

  async function close(): Promise<void> {
    await agent.close();
    await engine.close();
    while (works.size > 0) await Promise.all(works);
    await lines.close();
    await recordings?.close();
  }

  return {
    ...reach,
    address: addressOf(network, sip),
    reserve,
    place,
    onIncoming(handler) {
      takes = handler;
    },
    states: () => routes.map((route) => route.report(lines.countOf(route.trunk.name))),
    close: () => (closed ??= close()),
  };
}

/** Opens the user agent; what trunks send in goes to `take`. */
function openAgent(
  network: Network,
  { trunks, timers }: SipCarrierOptions,
  take: (call: IncomingCall, trunk: Trunk) => void,
): UserAgent {
  const callerFrom = createAllowList(trunks);
  return createUserAgent({
    network,
    allowSource: ({ address }) => callerFrom(address) !== undefined,
    onInvite(call) {
      const trunk = callerFrom(call.source.address);
      if (trunk === undefined) call.reject(403);
      else take(call, trunk);
    },
    inboundRingLimitMs,
    ...(timers === undefined ? {} : { timers }),
  });
}

function addressOf(network: Network, { bind = '' }: SipSettings): string {
  const bound = network.sentBy({ transport: 'udp', address: bind, port: 0 });
  return bound === undefined ? '' : `${bound.host}:${bound.port}`;
}
