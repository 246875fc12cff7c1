/** Calls without a Goal as the console lists them. Reads only (I7). */
import type { CallStatus } from '@trunkcall/contract';
import { callColumns, type CallRow } from './call-views.ts';
import { statement } from './database.ts';

export interface ConsoleCallRow extends CallRow {
  /** Of a one-shot call that is on the phone this says `in_progress`. */
  readonly shown_status: CallStatus;
  readonly task_beginning: string;
  readonly recipients: number;
}

/**
 * A one-shot call is `queued` in its row until it ends; that it was dialled is a fact of its attempt.
 *
 * Calls of an account, newest first. A filter that is rare among the newest costs a walk back to its calls.
 * Values: account id, id to begin behind (null: from the newest), least id (null: to the oldest), kind, status (null:
 * any), most rows.
 */
export const listAccountCalls = statement<ConsoleCallRow>(
  'console_list_calls',
  `select ${callColumns}, s.shown as shown_status, left(c.task, 200) as task_beginning, n.recipients
   from calls c
   cross join lateral (
     select case when c.kind = 'one_shot' and c.status = 'queued'
                  and exists (select 1 from runs r join attempts t on t.run_id = r.id where r.call_id = c.id)
                 then 'in_progress' else c.status end as shown
   ) s
   cross join lateral (select count(*)::int as recipients from recipients where call_id = c.id) n
   where c.account_id = $1 and c.id < coalesce($2, 'call_~') and c.id >= coalesce($3, 'call_')
     and ($4::text is null or c.kind = $4) and ($5::text is null or s.shown = $5)
   order by c.account_id desc, c.id desc limit $6`,
);
