import type { Clock } from '../platform/clock.ts';

/** What is drawn from a call is tried so often, with pauses between, before it is given up; milliseconds. */
export const retryPausesMs = [1_000, 5_000, 30_000, 120_000];

/** Resolves when something has taken too long, or the signal aborts. */
export async function tooLate(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
): Promise<{ readonly kind: 'retry'; readonly note: string }> {
  await clock.sleep(limitMs, signal);
  return { kind: 'retry', note: 'it took too long' };
}
