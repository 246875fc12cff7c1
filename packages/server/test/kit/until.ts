import { setTimeout as wait } from 'node:timers/promises';

/** Waits until `condition` holds. Throws after `limitMs`. */
export async function until(condition: () => boolean, what: string, limitMs = 15_000): Promise<void> {
  const end = performance.now() + limitMs;
  while (!condition()) {
    if (performance.now() > end) throw new Error(`waited in vain: ${what}`);
    await wait(5);
  }
}
