import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import { endExecution, findAttempt } from '../storage/attempts.ts';
import { DatabaseUnavailable, type Database, type Queryable } from '../storage/database.ts';
import { findExpiredJobs, putBackJob, seizeExpiredJob, type Queue } from '../storage/jobs.ts';
import { publishResult } from '../storage/results.ts';
import { withoutCall } from './execute-run.ts';
import { failedValues } from './process-result.ts';

const maxJobsPerRound = 100;
/** A job whose workers died so often is taken to be the reason of their death. */
const maxTries = 5;

/**
 * Decides what becomes of jobs whose worker has died or lost its way.
 *
 * - A dial job with an intent to dial: the phone may have rung, so it is never dialled again (I4). The run
 *   ends as `call_failed / worker_lost`.
 * - A dial job without: it is put back, and another worker dials.
 * - An extraction: done again.
 *
 * Taking the lease away, reading the intent and the decision are one transaction; taking it away first raises
 * the fence, so the old worker can not commit an intent in between (I6).
 */
export async function reap(db: Database, ids: Ids, log: Logger): Promise<number> {
  const expired = await db.query(findExpiredJobs, [maxJobsPerRound]);
  let decided = 0;
  for (const { queue, run_id: runId } of expired) {
    try {
      const decision = await db.transaction((tx) => decide(tx, ids, queue, runId));
      decided += 1;
      if (decision !== null) log.warn({ run_id: runId, queue, decision }, 'worker lost');
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      // One job that can not be decided must not keep the others waiting.
      log.error({ run_id: runId, queue, err: error }, 'a lost job could not be decided');
    }
  }
  return decided;
}

async function decide(tx: Queryable, ids: Ids, queue: Queue, runId: string): Promise<string | null> {
  const [seized] = await tx.query(seizeExpiredJob, [queue, runId]);
  if (seized === undefined) return null;
  const held = [runId, seized.fence];
  const worn = seized.tries >= maxTries;
  if (queue === 'extract') {
    if (!worn) await tx.query(putBackJob, [...held, queue, 0, true]);
    else await tx.query(publishResult, [...held, ...failedValues(ids)]);
    return worn ? 'result_failed' : 'extract_again';
  }
  const [attempt] = await tx.query(findAttempt, [runId]);
  if (attempt === undefined && !worn) {
    await tx.query(putBackJob, [...held, queue, 0, true]);
    return 'dispatch_again';
  }
  await tx.query(endExecution, [...held, ...withoutCall(ids, 'worker_lost')]);
  return 'worker_lost';
}
