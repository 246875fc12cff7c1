import type { Ids } from '../platform/ids.ts';
import { Refusal } from '../platform/refusal.ts';
import { claimToCancel, endExecution, findRunId, requestCancel } from '../storage/attempts.ts';
import type { Database } from '../storage/database.ts';
import { withoutCall } from './execute-run.ts';

/**
 * Stops a run that has not ended. One that waits ends at once; a live call is hung up by the worker that leads
 * it, which learns of it with its next heartbeat, or at once through `stopHere` when it is in this process.
 *
 * Throws: Refusal `not_found`, `run_not_cancelable`. Safe to repeat: yes.
 */
export async function cancelRun(
  db: Database,
  ids: Ids,
  stopHere: (runId: string) => void,
  id: string,
): Promise<{ readonly runId: string; readonly ended: boolean }> {
  const [run] = await db.query(findRunId, [id]);
  if (run === undefined) throw new Refusal('not_found', 'no such run');
  const ended = await db.transaction(async (tx) => {
    // The job first, then the run: the order in which a worker locks them.
    const [waiting] = await tx.query(claimToCancel, [run.id, 'operator']);
    if (waiting !== undefined) {
      await tx.query(endExecution, [run.id, waiting.fence, ...withoutCall(ids, 'operator')]);
      return true;
    }
    const [wanted] = await tx.query(requestCancel, [run.id]);
    if (wanted === undefined) throw new Refusal('run_not_cancelable', 'the run has ended already');
    return false;
  });
  if (!ended) stopHere(run.id);
  return { runId: run.id, ended };
}
