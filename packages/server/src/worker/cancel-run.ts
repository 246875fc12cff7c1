import { ownEnd } from '../dial/outcome.ts';
import { claimToCancel, requestCancel } from '../storage/attempts.ts';
import type { Database, Queryable } from '../storage/database.ts';
import { endRunWithin, type EndDependencies } from './end-run.ts';

/**
 * Stops a run's telephone execution. One that waits ends at once; a live call is hung up by the worker that
 * leads it, which learns of it with its next heartbeat, or at once through `stopHere` when it is in this process.
 *
 * `note` is called in the transaction that stops it, to say who did. Ends with whether there was something to stop.
 * Safe to repeat: yes.
 */
export async function cancelRun(
  db: Database,
  deps: EndDependencies,
  stopHere: (runId: string) => void,
  runId: string,
  note: (tx: Queryable) => Promise<void> = async () => undefined,
): Promise<'stopping' | 'ended'> {
  const state = await db.transaction(async (tx) => {
    // The job first, then the run: the order in which a worker locks them.
    const [waiting] = await tx.query(claimToCancel, [runId, 'operator']);
    if (waiting !== undefined) {
      await note(tx);
      // An inbound call never waits.
      const run = { id: runId, fence: waiting.fence, callId: waiting.call_id, inbound: false };
      await endRunWithin(tx, deps, run, ownEnd('operator'));
      return 'stopped';
    }
    const [wanted] = await tx.query(requestCancel, [runId]);
    if (wanted === undefined) return 'ended';
    await note(tx);
    return 'live';
  });
  if (state === 'live') stopHere(runId);
  return state === 'ended' ? 'ended' : 'stopping';
}
