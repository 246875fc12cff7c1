import type { Clock } from '../platform/clock.ts';
import { DatabaseUnavailable, type Queryable, type SqlValue, type Statement } from './database.ts';
import type { Lease } from './jobs.ts';

/** How long a worker keeps trying to store what it knows while the database is away. */
const patienceMs = 5 * 60_000;
const firstPauseMs = 50;
const longestPauseMs = 2_000;

/**
 * Stores a fact of a lease's work, waiting out a database that is away.
 *
 * The statement must be fenced and safe to repeat: after a lost answer it is sent again. Resolves `true` when
 * it was stored now, `false` when it found no lease (lost, or stored by a try whose answer was lost).
 * Throws: as `patiently`.
 */
export function persist<Row>(
  db: Queryable,
  clock: Clock,
  lease: Lease,
  what: Statement<Row>,
  values: readonly SqlValue[],
): Promise<boolean> {
  return patiently(clock, async () => {
    const rows = await db.query(what, [lease.subjectId, lease.fence, ...values]);
    return rows.length > 0;
  });
}

/**
 * Does `work`, again and again while the database is away; so it must be safe to repeat.
 * Throws: DatabaseUnavailable after five minutes; other errors at once.
 */
export async function patiently<T>(clock: Clock, work: () => Promise<T>): Promise<T> {
  const giveUpAt = clock.monotonic() + patienceMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || clock.monotonic() >= giveUpAt) throw error;
      await clock.sleep(pauseMs);
    }
  }
}
