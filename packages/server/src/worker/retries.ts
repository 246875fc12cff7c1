import type { Retry } from '../result/draw-result.ts';
import type { Database } from '../storage/database.ts';
import { findAgeOfEnd } from '../storage/results.ts';

/** What is drawn from a call is tried so often, with pauses between, before it is given up; milliseconds. */
const retryPausesMs = [1_000, 5_000, 30_000, 120_000];
/** While a provider fails everybody, what it should draw is looked at again after this long, milliseconds. */
const outagePauseMs = 30_000;
/** So long after its end a call waits for a provider; then tries count again. */
const longestOutageMs = 6 * 3_600_000;

export interface Again {
  readonly inMs: number;
  /** Whether the try that failed counts. */
  readonly counts: boolean;
}

/** When to draw again what failed on a try for a run or a call; null: it is given up. Throws: as the database. */
export async function drawnAgain(
  db: Database,
  subjectId: string,
  tries: number,
  { isOut }: Retry,
): Promise<Again | null> {
  if (isOut === true) {
    const [end] = await db.query(findAgeOfEnd, [subjectId]);
    if ((end?.age_ms ?? 0) < longestOutageMs) return { inMs: outagePauseMs, counts: false };
  }
  const inMs = retryPausesMs[tries - 1];
  return inMs === undefined ? null : { inMs, counts: true };
}
