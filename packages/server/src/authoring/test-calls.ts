import type { OperatorTrunk } from '@trunkcall/contract';
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { Ids } from '../platform/ids.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Queryable } from '../storage/database.ts';
import {
  expireTestCalls,
  forgetOldTestCalls,
  insertTestCall,
  isBarred,
  type TestCallRow,
} from '../storage/test-calls.ts';

/** The trunks of this deployment, as its settings have them. */
export interface TrunkBook {
  readonly trunks: readonly TrunkEntry[];
  /** Why a number must not be called over a trunk, in words that do not repeat it; null when it may be. */
  forbids(trunk: string, phone: string): string | null;
}

export type TrunkEntry = Pick<
  OperatorTrunk,
  'name' | 'proxy' | 'max_calls' | 'calls_per_second' | 'caller_numbers' | 'countries' | 'allow_prefixes'
>;

/**
 * Asks for a test call over a trunk; a worker places it within seconds. Called in a transaction.
 *
 * Throws: Refusal `not_found` for an unknown trunk, `invalid_phone` for what must not be called, `test_call_conflict`
 * while another one is under way over this trunk.
 */
export async function requestTestCall(
  tx: Queryable,
  ids: Ids,
  book: TrunkBook,
  trunk: string,
  phone: string,
): Promise<TestCallRow> {
  if (!book.trunks.some(({ name }) => name === trunk))
    throw new Refusal('not_found', 'there is no trunk with this name');
  if (parsePhoneNumberFromString(phone)?.isValid() !== true)
    throw new Refusal('invalid_phone', 'phone is not a number of any known numbering plan');
  const forbidden = book.forbids(trunk, phone);
  if (forbidden !== null) throw new Refusal('invalid_phone', forbidden);
  const [barred] = await tx.query(isBarred, [phone]);
  if (barred?.ours === true) throw new Refusal('invalid_phone', 'phone is a number of this service itself');
  if (barred?.opted_out === true)
    throw new Refusal('invalid_phone', 'whoever has this phone asked not to be called again');
  await tx.query(forgetOldTestCalls);
  // One that nobody took, or whose worker died, must not stand in the way of the next.
  await tx.query(expireTestCalls);
  const [call] = await tx.query(insertTestCall, [ids.next('tcall'), trunk, phone]);
  if (call === undefined)
    throw new Refusal('test_call_conflict', 'a test call over this trunk is under way; wait for its end');
  return call;
}
