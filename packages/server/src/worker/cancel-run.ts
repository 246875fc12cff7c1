import type { Ids } from '../platform/ids.ts';
import { claimToCancel, endExecution, requestCancel } from '../storage/attempts.ts';
import type { Database } from '../storage/database.ts';
import { withoutCall } from './execute-run.ts';

/**
 * Stops a run's telephone execution. One that waits ends at once; a live call is hung up by the worker that
 * leads it, which learns of it with its next heartbeat, or at once through `stopHere` when it is in this process.
 *
 * Ends with whether there was something to stop. Safe to repeat: yes.
 */
export async function cancelRun(
  db: Database,
  ids: Ids,
  stopHere: (runId: string) => void,
  runId: string,
): Promise<'stopping' | 'ended'> {
  const state = await db.transaction(async (tx) => {
    // The job first, then the run: the order in which a worker locks them.
    const [waiting] = await tx.query(claimToCancel, [runId, 'operator']);
    if (waiting !== undefined) {
      await tx.query(endExecution, [runId, waiting.fence, ...withoutCall(ids, 'operator')]);
      return 'stopped';
    }
    const [wanted] = await tx.query(requestCancel, [runId]);
    return wanted === undefined ? 'ended' : 'live';
  });
  if (state === 'live') stopHere(runId);
  return state === 'ended' ? 'ended' : 'stopping';
}
