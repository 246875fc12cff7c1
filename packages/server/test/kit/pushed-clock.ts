import { systemClock, type Clock } from '../../src/platform/clock.ts';

export interface PushedClock extends Clock {
  advance(ms: number): void;
}

/** The system's clock, which a test can push ahead: what sleeps wakes up when its time has come, either way. */
export function createPushedClock(): PushedClock {
  let aheadMs = 0;
  const sleeping = new Set<{ readonly dueMs: number; readonly wake: AbortController }>();
  const monotonic = () => systemClock.monotonic() + aheadMs;
  return {
    now: () => systemClock.now(),
    monotonic,
    advance(ms) {
      aheadMs += ms;
      for (const { dueMs, wake } of sleeping) if (dueMs <= monotonic()) wake.abort();
    },
    async sleep(ms, signal) {
      if (signal?.aborted) return false;
      const one = { dueMs: monotonic() + ms, wake: new AbortController() };
      sleeping.add(one);
      const stop = signal === undefined ? one.wake.signal : AbortSignal.any([signal, one.wake.signal]);
      await systemClock.sleep(ms, stop);
      sleeping.delete(one);
      return !signal?.aborted;
    },
  };
}
