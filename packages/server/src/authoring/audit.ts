import { formatId } from '@trunkcall/contract';
import type { Ids } from '../platform/ids.ts';
import type { Queryable } from '../storage/database.ts';
import { findNewestNote, insertAuditEntry } from '../storage/audit.ts';

export interface Change {
  /** Who; null for the program itself, and for whoever holds an operator token. */
  readonly by: string | null;
  /** Null for what concerns the whole deployment. */
  readonly accountId: string | null;
  /** What, as `object.verb`. */
  readonly action: string;
  readonly objectId: string;
  /** Never secrets, phone numbers or texts of authors (I10). */
  readonly details?: Readonly<Record<string, string | number | boolean | null | readonly string[]>>;
}

/** Notes a change that was made with an operator token, which names no person. */
export const recordOperatorChange = (tx: Queryable, ids: Ids, change: Omit<Change, 'by'>): Promise<string> =>
  recordChange(tx, ids, { by: null, ...change });

/**
 * Notes a change in the audit log. Called in the transaction that makes the change: both are committed, or none. Ends
 * with the note's id.
 */
export async function recordChange(tx: Queryable, ids: Ids, change: Change): Promise<string> {
  const { by, accountId, action, objectId, details = {} } = change;
  const id = ids.next('aud');
  await tx.query(insertAuditEntry, [id, by, accountId, action, objectId, JSON.stringify(details)]);
  return id;
}

/**
 * Notes what a person does again and again: nothing is added while the newest note about the object says that they did
 * it already, and is not older than `sinceMs`. Called with the object locked, as `recordChange`.
 */
export async function recordOngoing(
  tx: Queryable,
  ids: Ids,
  change: Change & { readonly accountId: string },
  sinceMs: number,
): Promise<void> {
  const { by, accountId, action, objectId } = change;
  const oldest = formatId('aud', sinceMs, new Uint8Array(10));
  const [newest] = await tx.query(findNewestNote, [accountId, objectId, oldest]);
  if (newest?.person_id === by && newest.action === action) return;
  await recordChange(tx, ids, change);
}
