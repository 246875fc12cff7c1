/** The leg of a simulated call, from our side of the line. */
import { assert } from '../../platform/assert.ts';
import type { Heard, Leg, LegEnd, Simulation, SpeechMedia } from '../carrier.ts';
import { Line, type Sensed } from './line.ts';
import { connectWith } from './transfer.ts';
import type { VirtualTime } from './virtual-time.ts';

/** The network itself ends a call after this long, as real ones do. */
const maxCallMs = 4 * 3_600_000;
const digitMs = 200;

const hungUpByUs: LegEnd = { reason: 'hung_up', endedBy: 'us', sipStatus: null, q850: 16 };
const hungUpByCallee: LegEnd = { reason: 'hung_up', endedBy: 'callee', sipStatus: null, q850: 16 };
const networkFault: LegEnd = { reason: 'carrier_error', endedBy: 'carrier', sipStatus: null, q850: 41 };

export interface Connection {
  readonly time: VirtualTime;
  readonly providerCallId: string;
  /** Hangs up when it aborts. */
  readonly signal: AbortSignal;
  /** Who is there for a transfer, and how they are. */
  readonly simulation: Simulation;
  readonly seed: string;
}

/** Connects us with a person, who is played until they hang up. */
export function connect(
  { time, providerCallId, signal, simulation, seed }: Connection,
  play: (line: Line) => Promise<void>,
): Leg<SpeechMedia> {
  const line = new Line(time);
  const transferred = new AbortController();
  signal.addEventListener('abort', () => line.end(hungUpByUs), { once: true });
  time.schedule(maxCallMs, () => line.end(networkFault));
  play(line).then(
    () => line.end(hungUpByCallee),
    () => line.end(networkFault),
  );
  return {
    providerCallId,
    clock: { now: () => line.clockMs, sleep: (ms, stop) => line.time.sleep(ms, stop) },
    media: mediaOn(line),
    ended: line.ended,
    hangUp() {
      line.end(hungUpByUs);
      return line.ended;
    },
    async transfer(order, stop) {
      const outcome = await line.time.whileWaiting(connectWith(line, simulation, seed, order, stop));
      if (outcome.kind === 'connected') transferred.abort();
      return outcome;
    },
    transferred: transferred.signal,
  };
}

function mediaOn(line: Line): SpeechMedia {
  return {
    kind: 'speech',
    say: (text) => line.time.whileWaiting(line.us.say(text)),
    async hear(withinMs) {
      return heardByUs(await line.time.whileWaiting(line.us.hear(withinMs)));
    },
    async sendDigits(digits) {
      assert(/^[0-9*#]{1,32}$/.test(digits), 'digits are 0-9, * and #');
      await line.time.whileWaiting(line.time.sleep(digitMs * digits.length));
      if (!line.over) line.us.emit({ kind: 'digits', digits });
    },
  };
}

function heardByUs(sensed: Sensed): Heard {
  assert(sensed.kind !== 'digits', 'simulated people press no keys');
  return sensed;
}
