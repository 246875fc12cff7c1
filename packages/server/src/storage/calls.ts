/**
 * Calls as they go on: a call has recipients, a recipient has numbers, and each number that is called is a run.
 *
 * Locks are taken in the order job → account → call; what changes a call holds its row until the commit.
 */
import { statement } from './database.ts';

export type CallKind = 'task' | 'one_shot';
export type CallStatus = 'queued' | 'in_progress' | 'completed' | 'failed' | 'canceled';
export type RecipientStatus = 'pending' | 'in_progress' | 'completed' | 'failed' | 'skipped';

export interface CallState {
  readonly id: string;
  readonly account_id: string;
  readonly kind: CallKind;
  readonly status: CallStatus;
  /** Recipients that may be called at once. */
  readonly parallel: number;
  /** Somebody wants it stopped. */
  readonly cancel: boolean;
}

/** Holds the call for the rest of the transaction. Values: call id. */
export const lockCall = statement<CallState>(
  'lock_call',
  `select id, account_id, kind, status, parallel, cancel_requested_at is not null as cancel
   from calls where id = $1 for no key update`,
);

export interface RecipientState {
  readonly id: string;
  readonly phones: readonly string[];
  readonly status: RecipientStatus;
}

/** In their order. Values: call id. */
export const listRecipientStates = statement<RecipientState>(
  'list_recipient_states',
  'select id, phones, status from recipients where call_id = $1 order by position',
);

export interface CallRunState {
  readonly id: string;
  readonly recipient_id: string;
  readonly phone: string;
  readonly status: CallStatus;
  readonly error_code: string | null;
  readonly error_detail_code: string | null;
  /** Somebody, or a machine, took the call, even if nothing came of it. */
  readonly answered: boolean;
  /** The phone rang. */
  readonly rang: boolean;
}

/** The runs of a call in the order of their beginning. Values: call id. */
export const listCallRuns = statement<CallRunState>(
  'list_call_runs',
  `select r.id, r.recipient_id, r.phone, r.status, r.error_code, r.error_detail_code,
          coalesce(t.answered_at is not null or t.sip_status between 200 and 299, false) as answered,
          coalesce(t.ringing_at is not null, false) as rang
   from runs r left join lateral (
     select answered_at, ringing_at, sip_status from attempts where run_id = r.id order by number desc limit 1
   ) t on true
   where r.call_id = $1 order by r.id`,
);

/** Begins to call a recipient's number. Values: run id, public id, call id, recipient id, phone. */
export const startCallRun = statement<never>(
  'start_call_run',
  `with run as (
     insert into runs (id, public_id, account_id, call_id, recipient_id, run_spec_id, run_spec_version, phone,
                       variables, status)
     select $1, $2, c.account_id, c.id, r.id, r.run_spec_id, 1, $5, '{}', 'in_progress'
     from calls c cross join recipients r where c.id = $3 and r.id = $4
     returning id, account_id
   ), recipient as (
     update recipients set status = 'in_progress' where id = $4
   )
   insert into jobs (queue, subject_id, account_id, due_at) select 'dial', id, account_id, now() from run`,
);

/** Values: recipient id, status. */
export const settleRecipient = statement<never>(
  'settle_recipient',
  'update recipients set status = $2 where id = $1',
);

/** What counts for the limit of call tasks. Holds the account for the rest of the transaction. Values: account id. */
export const lockTaskLimit = statement<{
  readonly max_active_tasks: number | null;
  readonly default_number: string | null;
}>(
  'lock_task_limit',
  'select max_active_tasks, default_number from accounts where id = $1 for no key update',
);

/** Values: account id. */
export const countTasks = statement<{ readonly in_progress: number; readonly queued: number }>(
  'count_tasks',
  `select (select count(*)::int from calls
           where account_id = $1 and kind = 'task' and status = 'in_progress') as in_progress,
          (select count(*)::int from calls
           where account_id = $1 and kind = 'task' and status = 'queued') as queued`,
);

/** Lets the oldest waiting call tasks begin. Values: account id, most. */
export const beginTasks = statement<{ readonly id: string }>(
  'begin_tasks',
  `update calls set status = 'in_progress'
   where id = any (array(select id from calls where account_id = $1 and kind = 'task' and status = 'queued'
                         order by id limit $2 for no key update))
   returning id`,
);

/** Leaves the call to be concluded. Values: call id. */
export const enqueueConclusion = statement<never>(
  'enqueue_conclusion',
  `insert into jobs (queue, subject_id, account_id, due_at)
   select 'conclude', id, account_id, now() from calls where id = $1
   on conflict do nothing`,
);

/**
 * Ends a one-shot call on the phone. Its result, if there will be one, comes with the conclusion; `evidence` says that
 * none will. Values: call id, status, error code, error detail, evidence (JSON text or null).
 */
export const endOneShot = statement<{ readonly id: string }>(
  'end_one_shot',
  `update calls c set status = $2, error_code = $3, error_detail_code = $4, evidence = $5::json,
                      completed_at = greatest(now(), c.created_at)
   where c.id = $1 and c.status = 'queued' returning c.id`,
);

/**
 * Publishes the conclusion of a call: everything about it is final with the commit. A row: it is published, now and
 * for good. Values: call id, fence, status, error code, error detail, result (JSON text or null), summary, whether
 * the task is completed, confidence, evidence (JSON text), recipient ids, their results and their summaries.
 */
export const publishConclusion = statement<{ readonly id: string; readonly account_id: string }>(
  'publish_conclusion',
  `with held as (
     select subject_id from jobs
     where queue = 'conclude' and subject_id = $1 and fence = $2 and worker is not null for no key update
   ), done as (
     delete from jobs j where j.queue = 'conclude' and j.subject_id = (select subject_id from held)
     returning j.subject_id
   ), concluded as (
     update calls c set status = $3, error_code = $4, error_detail_code = $5, result = $6::json, summary = $7,
                        task_completed = $8, confidence = $9, evidence = $10::json,
                        completed_at = coalesce(c.completed_at, greatest(now(), c.created_at))
     from done d where c.id = d.subject_id and c.evidence is null
     returning c.id, c.account_id
   ), reported as (
     update recipients r set result = f.result::json, summary = f.summary
     from concluded c, unnest($11::text[], $12::text[], $13::text[]) as f (id, result, summary)
     where r.id = f.id and r.call_id = c.id
   )
   select id, account_id from concluded`,
);

/** Asks for the end of a call that has not ended. Values: call id. */
export const requestCallCancel = statement<{ readonly id: string }>(
  'request_call_cancel',
  `update calls set cancel_requested_at = coalesce(cancel_requested_at, now())
   where id = $1 and status in ('queued', 'in_progress') returning id`,
);
