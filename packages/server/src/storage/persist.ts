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
 * Throws: DatabaseUnavailable after five minutes; other errors at once.
 */
export async function persist<Row>(
  db: Queryable,
  clock: Clock,
  lease: Lease,
  what: Statement<Row>,
  values: readonly SqlValue[],
): Promise<boolean> {
  const giveUpAt = clock.monotonic() + patienceMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    try {
      const rows = await db.query(what, [lease.runId, lease.fence, ...values]);
      return rows.length > 0;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || clock.monotonic() >= giveUpAt) throw error;
      await clock.sleep(pauseMs);
    }
  }
}
