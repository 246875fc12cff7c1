import { Refusal } from '../../platform/refusal.ts';
import { isId } from '@trunkcall/contract';
import { findCall, type CallRow } from '../../storage/call-views.ts';
import type { CallKind } from '../../storage/calls.ts';
import type { Queryable } from '../../storage/database.ts';

/**
 * Finds a call of the account. A call stays with the interface that created it: the other does not know it.
 * Throws: Refusal `not_found`.
 */
export async function ownedCall(
  db: Queryable,
  kind: CallKind,
  accountId: string,
  callId: string,
): Promise<CallRow> {
  const [call] = isId('call', callId) ? await db.query(findCall, [callId]) : [];
  if (call === undefined || call.account_id !== accountId || call.kind !== kind) {
    throw new Refusal('not_found', 'there is no such call');
  }
  return call;
}
