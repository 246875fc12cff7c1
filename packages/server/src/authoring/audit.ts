import type { Ids } from '../platform/ids.ts';
import type { Queryable } from '../storage/database.ts';
import { insertAuditEntry } from '../storage/audit.ts';

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
