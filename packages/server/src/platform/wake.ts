import type { Clock } from './clock.ts';

/** A wake-up that is never lost: one that comes while nobody waits is kept for the next wait. */
export interface Wake {
  wake(): void;
  /** Resolves after a wake-up, or after `ms`. */
  wait(ms: number): Promise<void>;
}

export function createWake(clock: Clock): Wake {
  let pending = false;
  let rouse: AbortController | null = null;
  return {
    wake() {
      pending = true;
      // A reason of our own saves Node an exception with its stack each time.
      rouse?.abort('wake');
    },
    async wait(ms) {
      if (!pending) {
        rouse = new AbortController();
        await clock.sleep(ms, rouse.signal);
        rouse = null;
      }
      pending = false;
    },
  };
}
