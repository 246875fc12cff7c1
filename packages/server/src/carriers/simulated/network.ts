/**
 * The simulated phone network: a carrier that phones nobody. It opens no socket; the people live in this
 * process, and the time of their calls is virtual (`virtual-time.ts`).
 *
 * The same seed and number always give the same person: how long it rings, what is said and when.
 */
import { assert } from '../../platform/assert.ts';
import type { Clock } from '../../platform/clock.ts';
import type {
  CallOrder,
  CallWatcher,
  Carrier,
  Ending,
  IncomingHandler,
  Placed,
  SpeechMedia,
} from '../carrier.ts';
import { ringNumber, type Rung, type SimulatedRing } from './caller.ts';
import { connect } from './leg.ts';
import { reactionOf, residentOf } from './numbers.ts';
import { playPerson } from './people.ts';
import { seededRandom } from './random.ts';
import { VirtualTime } from './virtual-time.ts';
import { wordingFor } from './wording/wording.ts';

export interface SimulatedNetworkOptions {
  readonly clock: Clock;
  /** Anything; another seed gives other people. Default `trunkcall`. */
  readonly seed?: string;
  /**
   * Virtual milliseconds per wall millisecond, more than 0. By default 30: a call of a minute takes two
   * seconds. 1 lets somebody follow a call as it would be; `Infinity` never waits (tests).
   */
  readonly speed?: number;
}

const setupMs = 300;
const canceled: Ending = { outcome: 'canceled', endedBy: 'us', sipStatus: 487, q850: null, note: null };
const rangOut: Ending = { outcome: 'ring_timeout', endedBy: 'us', sipStatus: 487, q850: null, note: null };
const closed: Ending = {
  outcome: 'carrier_error',
  endedBy: 'us',
  sipStatus: null,
  q850: null,
  note: 'the simulated network is closed',
};

export interface SimulatedNetwork extends Carrier<SpeechMedia> {
  /** Lets a simulated person call one of our numbers. Resolves when it is answered, refused or given up. Never rejects. */
  ring(ring: SimulatedRing): Promise<Rung>;
}

/** The network has one trunk, so that everything about trunks can be tried with it. */
export const simulatedTrunk = {
  name: 'simulated',
  proxy: null,
  max_calls: null,
  calls_per_second: null,
  caller_numbers: [],
  countries: [],
  allow_prefixes: [],
} as const;

export function createSimulatedNetwork(options: SimulatedNetworkOptions): SimulatedNetwork {
  const { clock, seed = 'trunkcall', speed = 30 } = options;
  assert(speed > 0, 'the speed of simulated calls is positive');
  const closing = new AbortController();
  const startedAt = new Date(clock.now()).toISOString();
  const live = new Set<Promise<unknown>>();
  let handler: IncomingHandler<SpeechMedia> | null = null;

  return {
    name: 'simulated',
    media: 'speech',
    reaches: () => ({ ok: true }),
    forbids: () => null,
    reserve: async () => ({ kind: 'ready', release: async () => undefined }),
    states: () => [
      {
        trunk: simulatedTrunk.name,
        state: 'up',
        since: startedAt,
        why: null,
        calls: live.size,
        last_failure: null,
      },
    ],
    async place(order, watcher, signal) {
      if (closing.signal.aborted) return { kind: 'ended', ending: closed };
      const stop = linked(signal, closing.signal);
      const placed = await placeCall(order, watcher, new VirtualTime(clock, speed), seed, stop.signal);
      if (placed.kind === 'ended') stop.release();
      else track(live, placed.leg.ended.then(stop.release));
      return placed;
    },
    onIncoming(taken) {
      handler = taken;
    },
    ring(ring) {
      const take = closing.signal.aborted ? null : handler;
      const time = new VirtualTime(clock, speed);
      return ringNumber(ring, {
        take,
        time,
        seed,
        closing: closing.signal,
        onLeg: (leg) => track(live, leg.ended),
      });
    },
    async close() {
      closing.abort();
      await Promise.all(live);
    },
  };
}

async function placeCall(
  order: CallOrder,
  watcher: CallWatcher,
  time: VirtualTime,
  seed: string,
  signal: AbortSignal,
): Promise<Placed<SpeechMedia>> {
  if (signal.aborted) return { kind: 'ended', ending: canceled };
  const random = seededRandom(`${seed} ${order.to}`);
  const resident = residentOf(order.to, order.simulation);
  const reaction = reactionOf(resident.does, random);
  const providerCallId = `sim_${order.attemptId}`;

  watcher.progress('trying', providerCallId);
  const elapsed = (ms: number) => time.whileWaiting(time.sleep(ms, signal));
  if (!(await elapsed(setupMs))) return { kind: 'ended', ending: canceled };
  if (reaction.rings) watcher.progress('ringing', providerCallId);
  if (!(await elapsed(Math.min(reaction.afterMs, order.ringLimitMs)))) {
    return { kind: 'ended', ending: canceled };
  }
  if (reaction.afterMs > order.ringLimitMs) return { kind: 'ended', ending: rangOut };
  if (reaction.ending !== null) return { kind: 'ended', ending: reaction.ending };

  const wording = wordingFor(order.locale);
  const leg = connect({ time, providerCallId, signal, seed, simulation: order.simulation }, (line) =>
    playPerson(line, resident, wording, random),
  );
  return { kind: 'answered', leg };
}

/** A signal that aborts with either of the two, and lets go of both when released. */
function linked(a: AbortSignal, b: AbortSignal): { signal: AbortSignal; release: () => void } {
  const either = new AbortController();
  const abort = () => either.abort();
  for (const signal of [a, b]) {
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  }
  return {
    signal: either.signal,
    release: () => [a, b].forEach((signal) => signal.removeEventListener('abort', abort)),
  };
}

function track(live: Set<Promise<unknown>>, call: Promise<unknown>): void {
  live.add(call);
  void call.then(() => live.delete(call));
}
