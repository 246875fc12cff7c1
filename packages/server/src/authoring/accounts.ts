import type { Ids } from '../platform/ids.ts';
import { Refusal } from '../platform/refusal.ts';
import { findAccount, insertAccount, setAccountLimit, type AccountRow } from '../storage/accounts.ts';
import type { Queryable } from '../storage/database.ts';

/** How many calls of a new account may run at the same time. */
const defaultMaxActiveCalls = 10;
const highestMaxActiveCalls = 100_000;

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

/** Changes how many calls of the account may run at the same time; calls that already run are not stopped. */
export async function limitAccount(db: Queryable, idOrName: string, limit: number): Promise<AccountRow> {
  if (!Number.isInteger(limit) || limit < 1 || limit > highestMaxActiveCalls) {
    throw new Refusal(
      'invalid_request',
      `max_active_calls must be an integer from 1 to ${highestMaxActiveCalls}`,
    );
  }
  const { id } = await getAccount(db, idOrName);
  const [account] = await db.query(setAccountLimit, [id, limit]);
  if (account === undefined) throw missingAccount();
  return account;
}

const missingAccount = () => new Refusal('not_found', 'there is no account with this id or name');
