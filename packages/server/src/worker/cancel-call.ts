import { advanceCall } from '../calls/advance.ts';
import { ownEnd } from '../dial/outcome.ts';
import { claimToCancel } from '../storage/attempts.ts';
import { listCallRuns, requestCallCancel } from '../storage/calls.ts';
import type { Database, Queryable } from '../storage/database.ts';
import { cancelRun } from './cancel-run.ts';
import { endRunWithin, type EndDependencies } from './end-run.ts';

/**
 * Takes a one-shot call back, if nothing has left for the carrier. Ends with whether it was; a call that is being
 * dialled is left alone. Safe to repeat: yes.
 */
export async function takeBackCall(db: Database, deps: EndDependencies, callId: string): Promise<boolean> {
  const [run] = await db.query(listCallRuns, [callId]);
  if (run === undefined) return false;
  return db.transaction(async (tx) => {
    // A job that waits has no attempt: one that had would be leased, or gone.
    const [waiting] = await tx.query(claimToCancel, [run.id, 'client']);
    if (waiting === undefined) return false;
    return endRunWithin(
      tx,
      deps,
      { id: run.id, fence: waiting.fence, callId, inbound: false },
      ownEnd('operator'),
    );
  });
}

/**
 * Stops a call: nobody else is dialled for it, and live calls are hung up shortly after. Its results are drawn from
 * what there is. `note` is called in the transaction that asks for it, to say who did. Ends with whether there was something to stop. Safe to repeat: yes.
 */
export async function stopCall(
  db: Database,
  deps: EndDependencies,
  stopHere: (runId: string) => void,
  callId: string,
  note: (tx: Queryable) => Promise<void> = async () => undefined,
): Promise<'stopping' | 'ended'> {
  // By itself first: it holds the call's row, for which whoever ends a run waits while holding the run's job.
  const wanted = await db.transaction(async (tx) => {
    const [requested] = await tx.query(requestCallCancel, [callId]);
    if (requested !== undefined) await note(tx);
    return requested !== undefined;
  });
  if (!wanted) return 'ended';
  for (const { id } of await db.query(listCallRuns, [callId])) await cancelRun(db, deps, stopHere, id);
  // A task that has not begun has no run whose end would move it on.
  await db.transaction((tx) => advanceCall(tx, deps.ids, callId));
  return 'stopping';
}
