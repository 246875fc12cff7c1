import { systemClock, type Clock } from '../../src/platform/clock.ts';

export interface ManualClock extends Clock {
  /** The short sleeps so far, milliseconds, in order. */
  readonly naps: readonly number[];
  advance(ms: number): void;
}

/**
 * A clock for requests over real sockets: sleeps shorter than `longMs` are over at once, and take their time on this
 * clock alone; longer ones, which are limits, end when the test advances it.
 */
export function createManualClock(longMs: number): ManualClock {
  let time = 0;
  const naps: number[] = [];
  const waiting = new Set<{ readonly due: number; readonly wake: (elapsed: boolean) => void }>();
  const advance = (ms: number) => {
    time += ms;
    for (const one of waiting) if (one.due <= time) one.wake(true);
  };
  return {
    now: () => systemClock.now(),
    monotonic: () => time,
    naps,
    advance,
    async sleep(ms, signal) {
      if (signal?.aborted === true) return false;
      if (ms < longMs) {
        naps.push(ms);
        advance(ms);
        return true;
      }
      return new Promise((resolve) => {
        const one = {
          due: time + ms,
          wake: (elapsed: boolean) => {
            waiting.delete(one);
            resolve(elapsed);
          },
        };
        waiting.add(one);
        signal?.addEventListener('abort', () => one.wake(false), { once: true });
      });
    },
  };
}
