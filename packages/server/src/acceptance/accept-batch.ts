import { createBatcher, type Batcher } from '../platform/batcher.ts';
import { acceptRuns, acceptValues, type AcceptRow, type Candidate } from '../storage/acceptance.ts';
import { DatabaseUnavailable, type Database } from '../storage/database.ts';

/** At most this many requests wait for the database at once; one more gets `503`. */
const maxWaiting = 10_000;
const maxBatch = 256;

/**
 * Hands a candidate to the database together with the others of this moment.
 *
 * Ends with the row that `acceptRuns` gave it, or null when it gave none.
 * Throws: DatabaseUnavailable. Safe to repeat with the same candidate: yes.
 */
export function createAcceptBatcher(db: Database): Batcher<Candidate, AcceptRow | null> {
  return createBatcher({
    // Two are enough: while one batch is flushed to disk the other is being gathered and sent.
    lanes: Math.min(2, db.sessions),
    maxBatch,
    maxWaiting,
    onFull: () => new DatabaseUnavailable('too many requests are waiting for the database'),
    retryAlone: (error) => !(error instanceof DatabaseUnavailable),
    run: async (batch) => {
      const rows = await askTwice(db, acceptValues(batch));
      const byRequest = new Map(rows.map((row) => [row.asked, row]));
      return batch.map(({ runId }) => byRequest.get(runId) ?? null);
    },
  });
}

/**
 * Asks once more when the answer was lost: if the first try was committed, the second finds its keys and
 * gives the same Runs (I2).
 */
async function askTwice(db: Database, values: ReturnType<typeof acceptValues>): Promise<AcceptRow[]> {
  try {
    return await db.query(acceptRuns, values);
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable)) throw error;
    return db.query(acceptRuns, values);
  }
}
