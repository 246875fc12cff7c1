import { type Clock, systemClock, type Timer } from '../../src/clock.ts';

/** The real clock, with a count of the timers that are set and have neither fired nor been cancelled. */
export class CountingClock implements Clock {
  readonly #pending = new Set<Timer>();

  now(): number {
    return systemClock.now();
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    const inner = systemClock.setTimer(delayMs, () => {
      this.#pending.delete(timer);
      fire();
    });
    const timer: Timer = {
      cancel: () => {
        this.#pending.delete(timer);
        inner.cancel();
      },
    };
    this.#pending.add(timer);
    return timer;
  }

  get pending(): number {
    return this.#pending.size;
  }
}
