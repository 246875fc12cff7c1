import { isId, type GoalFile, type GoalFileProblem, type UpdateNumberRequest } from '@trunkcall/contract';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { defaultVariables } from '../platform/default-variables.ts';
import type { Ids } from '../platform/ids.ts';
import { below } from '../platform/json-pointer.ts';
import { Refusal } from '../platform/refusal.ts';
import { findAccount } from '../storage/accounts.ts';
import type { Queryable } from '../storage/database.ts';
import { findGoal, lockGoal } from '../storage/goals.ts';
import {
  deleteNumber,
  findNumber,
  insertNumber,
  lockNumber,
  updateNumber,
  type NumberRow,
} from '../storage/numbers.ts';
import { recordChange } from './audit.ts';

export interface NewNumber {
  readonly phone: string;
  /** Null shares it with all. */
  readonly accountId: string | null;
  readonly label: string;
}

/** Who changes a number is noted in the audit log: a person of the console, or null for the operator API. */
type By = string | null;

/**
 * Enters a number that is ours, inside a transaction. Throws: Refusal `invalid_request` for what is no number,
 * `already_exists`.
 */
export async function addNumber(
  tx: Queryable,
  ids: Ids,
  { phone, accountId, label }: NewNumber,
  by: By,
): Promise<NumberRow> {
  if (parsePhoneNumberFromString(phone)?.isPossible() !== true) {
    throw new Refusal('invalid_request', 'phone must be a telephone number in E.164 form');
  }
  const [number] = await tx.query(insertNumber, [ids.next('num'), phone, accountId, label]);
  if (number === undefined) throw new Refusal('already_exists', 'this number was entered already');
  await recordChange(tx, ids, { by, accountId, action: 'number.added', objectId: number.id });
  return getNumber(tx, number.id);
}

/**
 * Changes what is known of a number, inside a transaction; what is left out stays. One that goes to another account, or
 * becomes shared, is answered by nobody until its new owner says by whom.
 *
 * Throws: Refusal `not_found`; `invalid_request` for an account that there is not, a number that its account shows to
 * callees and would lose, and a Goal that can not answer it.
 */
export async function changeNumber(
  tx: Queryable,
  ids: Ids,
  id: string,
  change: UpdateNumberRequest,
  by: By,
): Promise<NumberRow> {
  // The Goal before the number, as whoever publishes locks them.
  const goal = await answeringGoal(tx, change.inbound_goal ?? null);
  if (isId('num', id)) await tx.query(lockNumber, [id]);
  const number = await getNumber(tx, id);
  const accountId = change.account === undefined ? number.account_id : await ownerOf(tx, change.account);
  const isMoved = accountId !== number.account_id;
  if (isMoved && number.is_default) throw shown();
  const kept = isMoved || change.inbound_goal === null ? null : number.inbound_goal_id;
  if (goal !== null && goal.account_id !== accountId) {
    throw new Refusal(
      'invalid_request',
      accountId === null
        ? 'inbound_goal can answer only a number that is an account’s own; this one is shared'
        : 'inbound_goal must be the id of a Goal of the number’s account',
    );
  }
  const inboundGoalId = goal?.id ?? kept;
  await tx.query(updateNumber, [id, change.label ?? number.label, accountId, inboundGoalId]);
  // What an account loses stands in its log, too.
  for (const account of new Set([number.account_id, accountId])) {
    const details = {
      account_id: accountId,
      inbound_goal_id: account === accountId ? inboundGoalId : null,
    };
    await recordChange(tx, ids, { by, accountId: account, action: 'number.changed', objectId: id, details });
  }
  return getNumber(tx, id);
}

/** Inside a transaction. Throws: Refusal `not_found`, or `invalid_request` while an account shows the number to callees. */
export async function removeNumber(tx: Queryable, ids: Ids, id: string, by: By): Promise<NumberRow> {
  const number = await getNumber(tx, id);
  const [removed] = await tx.query(deleteNumber, [number.id]);
  if (removed === undefined) throw shown();
  await recordChange(tx, ids, { by, accountId: number.account_id, action: 'number.removed', objectId: id });
  return number;
}

/** Makes sure that a number is the account's own. Throws: Refusal `invalid_request`. */
export async function requireOwnNumber(db: Queryable, accountId: string, id: string): Promise<void> {
  const [number] = isId('num', id) ? await db.query(findNumber, [id]) : [];
  if (number?.account_id !== accountId) {
    throw new Refusal('invalid_request', 'default_number must be the id of one of the account’s own numbers');
  }
}

/** Throws: Refusal `not_found`. */
export async function getNumber(db: Queryable, id: string): Promise<NumberRow> {
  const [number] = isId('num', id) ? await db.query(findNumber, [id]) : [];
  if (number === undefined) throw new Refusal('not_found', 'there is no number with this id');
  return number;
}

/** Why a Goal can not answer calls; empty when it can. Pure. */
export function inboundProblems({ input_schema }: GoalFile): GoalFileProblem[] {
  return defaultVariables(input_schema).missing.map((name) => ({
    pointer: below('/input_schema/properties', name),
    message: `${name} is required and has no default; nobody gives variables to a Goal that answers calls: give it a default, or take it out of required`,
  }));
}

/** The Goal that is to answer, held until the transaction ends; null for none. */
async function answeringGoal(
  tx: Queryable,
  goalId: string | null,
): Promise<{ readonly id: string; readonly account_id: string } | null> {
  if (goalId === null) return null;
  const [held] = isId('goal', goalId) ? await tx.query(lockGoal, [goalId]) : [];
  const [goal] = held === undefined ? [] : await tx.query(findGoal, [goalId]);
  if (goal === undefined) {
    throw new Refusal('invalid_request', 'inbound_goal must be the id of a Goal of the number’s account');
  }
  const problems = inboundProblems(goal.published ?? goal.draft);
  if (problems.length > 0) {
    const names = problems.map(({ pointer }) => pointer.slice(pointer.lastIndexOf('/') + 1)).join(', ');
    throw new Refusal(
      'invalid_request',
      `inbound_goal needs variables that nobody gives when a call comes in: ${names}; give them defaults and publish, or take them out of required`,
      { details: { problems } },
    );
  }
  return goal;
}

async function ownerOf(tx: Queryable, account: string | null): Promise<string | null> {
  if (account === null) return null;
  const [found] = account.includes('\u0000') ? [] : await tx.query(findAccount, [account]);
  if (found === undefined)
    throw new Refusal('invalid_request', 'account must be the id or name of an account');
  return found.id;
}

const shown = () =>
  new Refusal('invalid_request', 'the number is an account’s default_number; choose another one there first');
