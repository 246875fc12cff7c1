import type { Clock } from '../../platform/clock.ts';
import type { LegClock, LegEnd } from '../carrier.ts';

/** What all legs of the lab have: a clock that begins now, and one end. */
export class LabCall {
  readonly clock: LegClock;
  readonly ended: Promise<LegEnd>;
  readonly #over = new AbortController();
  readonly #resolveEnded: (end: LegEnd) => void;

  /** `slowness`: how many milliseconds one of the leg's takes. */
  constructor(clock: Clock, slowness = 1) {
    const answeredAtMs = clock.monotonic();
    const { promise, resolve } = Promise.withResolvers<LegEnd>();
    this.ended = promise;
    this.#resolveEnded = resolve;
    this.clock = {
      now: () => (clock.monotonic() - answeredAtMs) / slowness,
      // One more: a timer may fire up to a millisecond early by the monotonic clock.
      sleep: (ms, signal) =>
        clock.sleep(
          Math.max(0, ms) * slowness + 1,
          signal === undefined ? this.over : AbortSignal.any([this.over, signal]),
        ),
    };
  }

  /** Aborted at the end. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** Ends the call; the first end counts. Safe to repeat. */
  end(endedBy: LegEnd['endedBy'], reason: LegEnd['reason'] = 'hung_up'): Promise<LegEnd> {
    this.#resolveEnded({ reason, endedBy, sipStatus: null, q850: null });
    this.#over.abort();
    return this.ended;
  }
}
