import { isId } from '@trunkcall/contract';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { Ids } from '../platform/ids.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Queryable } from '../storage/database.ts';
import { deleteNumber, findNumber, insertNumber, type NumberRow } from '../storage/numbers.ts';

/**
 * Enters a number that is ours; a null account shares it with all. Throws: Refusal `invalid_request` for what is no
 * number, `already_exists`.
 */
export async function addNumber(
  db: Queryable,
  ids: Ids,
  phone: string,
  accountId: string | null,
): Promise<NumberRow> {
  if (parsePhoneNumberFromString(phone)?.isPossible() !== true) {
    throw new Refusal('invalid_request', 'phone must be a telephone number in E.164 form');
  }
  const [number] = await db.query(insertNumber, [ids.next('num'), phone, accountId]);
  if (number === undefined) throw new Refusal('already_exists', 'this number was entered already');
  return number;
}

/** Throws: Refusal `not_found`, or `invalid_request` while an account shows the number to callees. */
export async function removeNumber(db: Queryable, id: string): Promise<NumberRow> {
  const number = await findOne(db, id);
  const [removed] = await db.query(deleteNumber, [number.id]);
  if (removed === undefined) {
    throw new Refusal(
      'invalid_request',
      'the number is an account’s default_number; choose another one there first',
    );
  }
  return removed;
}

/** Makes sure that a number is the account's own. Throws: Refusal `invalid_request`. */
export async function requireOwnNumber(db: Queryable, accountId: string, id: string): Promise<void> {
  const [number] = isId('num', id) ? await db.query(findNumber, [id]) : [];
  if (number?.account_id !== accountId) {
    throw new Refusal('invalid_request', 'default_number must be the id of one of the account’s own numbers');
  }
}

async function findOne(db: Queryable, id: string): Promise<NumberRow> {
  const [number] = isId('num', id) ? await db.query(findNumber, [id]) : [];
  if (number === undefined) throw new Refusal('not_found', 'there is no number with this id');
  return number;
}
