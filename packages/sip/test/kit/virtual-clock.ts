import type { Clock, Timer } from '../../src/clock.ts';

/** A clock that stands still until it is told to move: hours of timers pass in a microsecond. */
export class VirtualClock implements Clock {
  #now = 0;
  #sequence = 0;
  readonly #timers = new Map<number, { readonly dueAt: number; readonly fire: () => void }>();

  now(): number {
    return this.#now;
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    const id = (this.#sequence += 1);
    this.#timers.set(id, { dueAt: this.#now + delayMs, fire });
    return { cancel: () => this.#timers.delete(id) };
  }

  /** Timers that are set and have not fired. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Fires everything that comes due within `ms`, in order, also what those timers set. */
  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const due = [...this.#timers]
        .filter(([, { dueAt }]) => dueAt <= end)
        .sort(([a, x], [b, y]) => x.dueAt - y.dueAt || a - b)[0];
      if (due === undefined) break;
      const [id, { dueAt, fire }] = due;
      this.#timers.delete(id);
      this.#now = Math.max(this.#now, dueAt);
      fire();
    }
    this.#now = end;
  }
}
