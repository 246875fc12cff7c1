/**
 * The time of one simulated call.
 *
 *   schedule ──▶ timers by time, then by order ──▶ let our side's promises settle ──▶ pace ──▶ fire
 *
 * V1  `now` is exactly the time of the timer that fired last, so offsets do not depend on the wall clock.
 * V2  Timers fire by time, those of one time in the order of their making; between two of them every promise
 *     that the first one settled has run on.
 * V3  While our side waits for the line, virtual time runs `speed` times as fast as the wall clock. While our
 *     side is busy elsewhere (a database, a model) it runs no faster than the wall clock, so that a person does
 *     not lose patience within our millisecond.
 */
import { assert } from '../../platform/assert.ts';
import type { Clock } from '../../platform/clock.ts';

/** One call needs about ten; more than this is a leak. */
const maxTimers = 1_000;

export interface Timer {
  readonly atMs: number;
  /** Called once: `true` when due, `false` when time stopped before. */
  readonly fire: (due: boolean) => void;
}

export class VirtualTime {
  readonly #clock: Clock;
  readonly #speed: number;
  /** Earliest last. */
  readonly #timers: Timer[] = [];
  #now = 0;
  /** How much virtual time the wall clock has paid for. */
  #paid = 0;
  #waits = 0;
  #running = false;
  #stopped = false;
  #nap: AbortController | null = null;

  /** `speed` is virtual milliseconds per wall millisecond; `Infinity` never waits on the wall clock. */
  constructor(clock: Clock, speed: number) {
    this.#clock = clock;
    this.#speed = speed;
  }

  /** Virtual milliseconds since the call began. */
  get now(): number {
    return this.#now;
  }

  schedule(delayMs: number, fire: (due: boolean) => void): Timer {
    assert(delayMs >= 0, 'a timer lies in the future');
    assert(this.#timers.length < maxTimers, 'a call has few timers');
    const timer = { atMs: this.#now + Math.round(delayMs), fire };
    if (this.#stopped) {
      fire(false);
      return timer;
    }
    const after = this.#timers.findIndex((other) => other.atMs <= timer.atMs);
    this.#timers.splice(after === -1 ? this.#timers.length : after, 0, timer);
    this.#nap?.abort();
    void this.#run();
    return timer;
  }

  /** Takes a timer back; it is not called. Safe to repeat. */
  cancel(timer: Timer): void {
    const index = this.#timers.indexOf(timer);
    if (index !== -1) this.#timers.splice(index, 1);
    this.#nap?.abort();
  }

  /** Resolves `true` after `ms`, or `false` as soon as the signal aborts or time stops. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<boolean> {
    if (signal?.aborted || this.#stopped) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = this.schedule(ms, settle);
      const abort = () => {
        this.cancel(timer);
        settle(false);
      };
      signal?.addEventListener('abort', abort, { once: true });
      function settle(due: boolean): void {
        signal?.removeEventListener('abort', abort);
        resolve(due);
      }
    });
  }

  /** Counts our side as waiting for the line until the promise settles (V3). */
  async whileWaiting<T>(wait: Promise<T>): Promise<T> {
    this.#waits += 1;
    this.#nap?.abort();
    try {
      return await wait;
    } finally {
      this.#waits -= 1;
    }
  }

  /** Lets nothing fire any more and tells all timers so. Safe to repeat. */
  stop(): void {
    this.#stopped = true;
    this.#nap?.abort();
    for (const timer of this.#timers.splice(0)) timer.fire(false);
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    while (this.#timers.length > 0) {
      await promisesSettled();
      const next = this.#timers.at(-1);
      if (next === undefined || !(await this.#pace(next.atMs))) continue;
      // Taken back, or overtaken, in the last moment.
      if (this.#timers.at(-1) !== next) continue;
      this.#timers.pop();
      this.#now = next.atMs;
      next.fire(true);
    }
    this.#running = false;
  }

  /** Waits until the wall clock has paid for `atMs`; `false` when something changed in the meantime. */
  async #pace(atMs: number): Promise<boolean> {
    const rate = this.#waits > 0 ? this.#speed : Math.min(this.#speed, 1);
    if (rate === Infinity) this.#paid = Math.max(this.#paid, atMs);
    if (this.#paid >= atMs) return true;
    const nap = new AbortController();
    this.#nap = nap;
    const before = this.#clock.monotonic();
    const undisturbed = await this.#clock.sleep((atMs - this.#paid) / rate, nap.signal);
    this.#nap = null;
    // What the wall clock overslept is kept as credit, so that errors do not add up over many timers.
    const paid = this.#paid + (this.#clock.monotonic() - before) * rate;
    this.#paid = undisturbed ? Math.max(paid, atMs) : paid;
    return undisturbed;
  }
}

/** Resolves when all promises that are settled by now, and those that they settle, have run on. */
function promisesSettled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
