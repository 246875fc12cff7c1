/** Time, injected: nothing in the service calls `Date.now` or `setTimeout` by itself. */
export interface Clock {
  /** Unix milliseconds, for records and calendars. */
  now(): number;
  /** Milliseconds that never go back, for durations. */
  monotonic(): number;
  /** Resolves `true` after `ms`, or `false` at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<boolean>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => {
    if (signal?.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timer = setTimeout(finish, ms, true);
      const abort = () => finish(false);
      signal?.addEventListener('abort', abort, { once: true });
      function finish(elapsed: boolean): void {
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        resolve(elapsed);
      }
    });
  },
};
