/** Makes the moves that `progress.ts` decides, inside the transaction of what made them possible (I8). */
import { assert } from '../platform/assert.ts';
import type { Ids } from '../platform/ids.ts';
import {
  beginTasks,
  countTasks,
  endOneShot,
  enqueueConclusion,
  listCallRuns,
  listRecipientStates,
  lockCall,
  lockTaskLimit,
  settleRecipient,
  startCallRun,
  type CallRunState,
  type CallState,
} from '../storage/calls.ts';
import type { Queryable } from '../storage/database.ts';
import { appendCallEvent } from '../storage/events.ts';
import { nextMoves, type Move } from './progress.ts';

/** Call tasks at once of an account on the shared lines, and of one with a number of its own (contract: "Limits"). */
const sharedTasks = 1;
const dedicatedTasks = 10;

/** Call tasks that an account may have in progress; its own setting takes precedence. */
export function taskLimit(account: {
  readonly max_active_tasks: number | null;
  readonly default_number: string | null;
}): number {
  return account.max_active_tasks ?? (account.default_number === null ? sharedTasks : dedicatedTasks);
}

/**
 * Moves a call on after it was accepted or one of its runs has ended. Ends with whether it is over with that, for good:
 * a one-shot call that will have no result.
 */
export async function advanceCall(tx: Queryable, ids: Ids, callId: string): Promise<'goes_on' | 'over'> {
  const [call] = await tx.query(lockCall, [callId]);
  assert(call !== undefined, 'a run of a call has its call');
  // Whatever ends now, the call itself was over before.
  if (call.status !== 'queued' && call.status !== 'in_progress') return 'goes_on';
  const recipients = await tx.query(listRecipientStates, [callId]);
  const runs = await tx.query(listCallRuns, [callId]);
  let over: 'goes_on' | 'over' = 'goes_on';
  for (const move of nextMoves(call, recipients, runs)) over = await make(tx, ids, call, move, runs);
  return over;
}

async function make(
  tx: Queryable,
  ids: Ids,
  call: CallState,
  move: Move,
  runs: readonly CallRunState[],
): Promise<'goes_on' | 'over'> {
  switch (move.kind) {
    case 'dial': {
      const values = [ids.next('run'), ids.next('grun'), call.id, move.recipientId, move.phone];
      await tx.query(startCallRun, values);
      return 'goes_on';
    }
    case 'settle':
      await tx.query(settleRecipient, [move.recipientId, move.status]);
      return 'goes_on';
    case 'conclude':
      return call.kind === 'one_shot' ? endOnPhone(tx, ids, call, runs.at(-1)) : leave(tx, call.id);
  }
}

async function leave(tx: Queryable, callId: string): Promise<'goes_on'> {
  await tx.query(enqueueConclusion, [callId]);
  return 'goes_on';
}

/** A one-shot call ends with its only run; its result, if there was a conversation, is drawn behind that. */
async function endOnPhone(
  tx: Queryable,
  ids: Ids,
  call: CallState,
  run: CallRunState | undefined,
): Promise<'goes_on' | 'over'> {
  const talked = run?.status === 'completed';
  const status = run === undefined ? 'canceled' : run.status;
  const error = run === undefined ? 'canceled' : run.error_code;
  const detail = run === undefined ? 'operator' : run.error_detail_code;
  await tx.query(endOneShot, [call.id, status, error, detail, talked ? null : '[]']);
  if (talked) return leave(tx, call.id);
  const details = JSON.stringify({ status, detail_code: detail });
  await tx.query(appendCallEvent, [call.id, ids.next('evt'), `call.${status}`, details]);
  return 'over';
}

/** Lets waiting call tasks of the account begin as far as its limit allows. */
export async function beginWaitingTasks(tx: Queryable, ids: Ids, accountId: string): Promise<void> {
  const [account] = await tx.query(lockTaskLimit, [accountId]);
  const [tasks] = await tx.query(countTasks, [accountId]);
  assert(account !== undefined && tasks !== undefined, 'a call has an account');
  const room = taskLimit(account) - tasks.in_progress;
  if (room <= 0 || tasks.queued === 0) return;
  for (const { id } of await tx.query(beginTasks, [accountId, room])) {
    const details = JSON.stringify({ status: 'in_progress' });
    await tx.query(appendCallEvent, [id, ids.next('evt'), 'call.in_progress', details]);
    await advanceCall(tx, ids, id);
  }
}
