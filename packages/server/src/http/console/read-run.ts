/** The one door to a run of the console. */
import { isId } from '@trunkcall/contract';
import type { Session } from '../../authoring/sessions.ts';
import { Refusal } from '../../platform/refusal.ts';
import { findRunContent } from '../../storage/console-views.ts';
import type { Queryable } from '../../storage/database.ts';
import { requireRight } from './access.ts';

/** A run in an account where the person may do `action`. Throws: Refusal `not_found`, `forbidden`. */
export async function readRun(
  db: Queryable,
  session: Session,
  publicId: string,
  action: 'account.read' | 'run.cancel' | 'recording.hear' | 'call.listen',
) {
  const [run] = isId('grun', publicId) ? await db.query(findRunContent, [publicId]) : [];
  if (run === undefined) throw new Refusal('not_found', 'there is no such Run');
  requireRight(session, run.account_id, action, 'Run');
  return run;
}
