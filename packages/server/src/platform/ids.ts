import { randomFillSync } from 'node:crypto';
import { formatId, type IdPrefix } from '@trunkcall/contract';
import type { Clock } from './clock.ts';

/** Makes ids; injected, so that tests can repeat them. */
export interface Ids {
  next(prefix: IdPrefix): string;
}

/** Ids from the clock and the system's random source, which is read 4 KiB at a time. */
export function systemIds(clock: Clock): Ids {
  const pool = new Uint8Array(4_090);
  let used = pool.length;
  return {
    next(prefix) {
      if (used + 10 > pool.length) {
        randomFillSync(pool);
        used = 0;
      }
      used += 10;
      return formatId(prefix, clock.now(), pool.subarray(used - 10, used));
    },
  };
}
