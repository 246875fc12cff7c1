import { ownEnd } from '../dial/outcome.ts';
import type { Logger } from '../platform/log.ts';
import { findAttempt } from '../storage/attempts.ts';
import { DatabaseUnavailable, type Database, type Queryable } from '../storage/database.ts';
import { findExpiredJobs, putBackJob, seizeExpiredJob, type Queue } from '../storage/jobs.ts';
import { publishNoConclusion } from './conclude-call.ts';
import { endRunWithin, type EndDependencies } from './end-run.ts';
import { failedValues, publishRunResult } from './process-result.ts';

const maxJobsPerRound = 100;
/** A job whose workers died so often is taken to be the reason of their death. */
const maxTries = 5;

/**
 * Decides what becomes of jobs whose worker has died or lost its way.
 *
 * - A dial job with an intent to dial: the phone may have rung, so it is never dialled again (I4). The run
 *   ends as `call_failed / worker_lost`.
 * - A dial job without: it is put back, and another worker dials.
 * - An inbound call: it has its attempt from the beginning, so it ends as `worker_lost`, too.
 * - An extraction, or the conclusion of a call: done again.
 *
 * Taking the lease away, reading the intent and the decision are one transaction; taking it away first raises
 * the fence, so the old worker can not commit an intent in between (I6).
 */
export async function reap(
  deps: EndDependencies & { readonly db: Database; readonly log: Logger },
): Promise<number> {
  const { db, log } = deps;
  const expired = await db.query(findExpiredJobs, [maxJobsPerRound]);
  let decided = 0;
  for (const { queue, subject_id: subjectId } of expired) {
    try {
      const decision = await db.transaction((tx) => decide(tx, deps, queue, subjectId));
      decided += 1;
      if (decision !== null) log.warn({ subject_id: subjectId, queue, decision }, 'worker lost');
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      // One job that can not be decided must not keep the others waiting.
      log.error({ subject_id: subjectId, queue, err: error }, 'a lost job could not be decided');
    }
  }
  return decided;
}

async function decide(
  tx: Queryable,
  deps: EndDependencies,
  queue: Queue,
  subjectId: string,
): Promise<string | null> {
  const [seized] = await tx.query(seizeExpiredJob, [queue, subjectId]);
  if (seized === undefined) return null;
  const held = [subjectId, seized.fence] as const;
  const worn = seized.tries >= maxTries;
  const dialled = queue === 'dial' && (await tx.query(findAttempt, [subjectId])).length > 0;
  if (!worn && !dialled) {
    await tx.query(putBackJob, [...held, queue, 0, true]);
    return 'again';
  }
  switch (queue) {
    case 'dial':
      await endRunWithin(
        tx,
        deps,
        { id: subjectId, fence: seized.fence, callId: seized.call_id, inbound: seized.inbound },
        ownEnd('worker_lost'),
      );
      return 'worker_lost';
    case 'extract':
      await publishRunResult(tx, deps, held, failedValues(deps.ids));
      return 'result_failed';
    case 'conclude':
      await publishNoConclusion(tx, deps, subjectId, seized.fence);
      return 'not_concluded';
  }
}
