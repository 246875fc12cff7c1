import type { UpdateAccountRequest } from '@trunkcall/contract';
import { isSupportedCountry } from 'libphonenumber-js/max';
import type { Ids } from '../platform/ids.ts';
import { parseAmount } from '../platform/money.ts';
import { Refusal } from '../platform/refusal.ts';
import { lockTaskLimit } from '../storage/calls.ts';
import {
  findAccount,
  insertAccount,
  setDisclosure,
  updateAccount,
  type AccountRow,
} from '../storage/accounts.ts';
import type { Queryable } from '../storage/database.ts';
import { recordChange } from './audit.ts';
import { requireOwnNumber } from './numbers.ts';

/** How many calls of a new account may run at the same time. */
const defaultMaxActiveCalls = 10;

/** A word or two explain nothing; characters. */
const leastReason = 10;

/** Letters and digits of any script, and what stands in names of firms; the agent says it aloud. */
const namePattern = /^[\p{L}\p{N}](?:[\p{L}\p{M}\p{N} .,'’&()_-]{0,62}[\p{L}\p{M}\p{N}.)])?$/u;

/**
 * Creates an account. Its name is unique and has 1–64 characters.
 *
 * Throws: Refusal `invalid_request` for a name of the wrong form, `already_exists` for one that is taken.
 */
export async function createAccount(db: Queryable, ids: Ids, name: string): Promise<AccountRow> {
  // A name that looked like an id would be ambiguous where either is taken.
  if (!namePattern.test(name) || name !== name.normalize('NFC') || name.startsWith('acct_')) {
    throw new Refusal(
      'invalid_request',
      "name must have 1 to 64 letters, digits, spaces or . , ' & ( ) _ -, begin with a letter or digit and not with acct_",
    );
  }
  const [account] = await db.query(insertAccount, [ids.next('acct'), name, defaultMaxActiveCalls]);
  if (account === undefined) throw new Refusal('already_exists', 'an account with this name exists already');
  return account;
}

/** Finds an account by its id or its name. Throws: Refusal `not_found`. */
export async function getAccount(db: Queryable, idOrName: string): Promise<AccountRow> {
  // The database takes no U+0000, so no account has one.
  const [account] = idOrName.includes('\u0000') ? [] : await db.query(findAccount, [idOrName]);
  if (account === undefined) throw missingAccount();
  return account;
}

/**
 * Changes settings of an account, inside a transaction; what is left out stays. Calls that already run are not stopped.
 * Who switches the disclosure off or on goes into the audit log, with the reason; `by` is a person of the console, null
 * for the operator API.
 *
 * Throws: Refusal `not_found`, or `invalid_request` for a region that there is not, for a default number that is not the
 * account's own, for a budget that is no amount above zero, and for a disclosure that is switched off without a reason.
 */
export async function changeAccount(
  tx: Queryable,
  ids: Ids,
  idOrName: string,
  change: UpdateAccountRequest,
  by: string | null,
): Promise<AccountRow> {
  const { id } = await getAccount(tx, idOrName);
  // Held while it is read and written: of two changes at a time none is lost.
  await tx.query(lockTaskLimit, [id]);
  const account = await getAccount(tx, id);
  const { max_active_calls, max_inbound_calls, max_active_tasks, region, default_number } = {
    ...account,
    ...change,
  };
  const budget =
    change.monthly_budget === undefined ? account.monthly_budget : budgetOf(change.monthly_budget);
  if (!isSupportedCountry(region)) {
    throw new Refusal('invalid_request', 'region must be a country, ISO 3166-1 alpha-2, such as US');
  }
  if (default_number !== null) await requireOwnNumber(tx, account.id, default_number);
  const values = [
    account.id,
    max_active_calls,
    max_active_tasks,
    region,
    default_number,
    budget,
    max_inbound_calls,
  ];
  const [changed] = await tx.query(updateAccount, values);
  if (changed === undefined) throw missingAccount();
  return change.disclosure === undefined ? changed : discloses(tx, ids, changed, change.disclosure, by);
}

async function discloses(
  tx: Queryable,
  ids: Ids,
  { id }: AccountRow,
  disclosure: NonNullable<UpdateAccountRequest['disclosure']>,
  by: string | null,
): Promise<AccountRow> {
  const reason = reasonOf(disclosure);
  const [changed] = await tx.query(setDisclosure, [id, reason, by]);
  if (changed === undefined) throw missingAccount();
  const action = reason === null ? 'account.disclosure_on' : 'account.disclosure_off';
  const details = reason === null ? {} : { reason };
  await recordChange(tx, ids, { by, accountId: id, objectId: id, action, details });
  return changed;
}

/** Millionths of a US dollar as text; null for none. Throws: Refusal `invalid_request`. */
function budgetOf(text: string | null): string | null {
  const amount = text === null ? null : parseAmount(text);
  if (text !== null && (amount === null || amount === 0n)) {
    throw new Refusal(
      'invalid_request',
      'monthly_budget must be US dollars above zero with up to six decimals, such as 250.00, or null for none',
    );
  }
  return amount?.toString() ?? null;
}

function reasonOf({ off, reason }: NonNullable<UpdateAccountRequest['disclosure']>): string | null {
  if (!off && reason !== undefined) {
    throw new Refusal(
      'invalid_request',
      'disclosure.reason goes with off: true; saying who calls needs none',
    );
  }
  const given = reason?.trim() ?? '';
  if (off && given.length < leastReason) {
    throw new Refusal(
      'invalid_request',
      `disclosure.reason must say in at least ${leastReason} characters why callees are not told that a machine calls`,
    );
  }
  return off ? given : null;
}

const missingAccount = () => new Refusal('not_found', 'there is no account with this id or name');
