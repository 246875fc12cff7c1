/**
 * What a worker writes about a run. Every statement begins by locking the worker's lease: a stale fence finds
 * no row there, and then nothing of the statement happens (I6).
 */
import { statement } from './database.ts';
import { appendEvent, appendEvents } from './events.ts';
import { releaseSlots } from './jobs.ts';

/** The beginning of each fenced statement. Values: $1 run id, $2 fence. */
export const dialLease = `held as (
     select subject_id as run_id, account_id, carrier from jobs
     where queue = 'dial' and subject_id = $1 and fence = $2 and worker is not null for no key update
   )`;

/**
 * Commits the intent to dial (I4). A row: this worker, and no other ever, may dial. No row: the lease is lost,
 * the run has ended or is to be stopped, its callee opted out, or there was an intent before.
 * The event says so when the first sentence will not tell that an automated assistant is calling.
 * Values: run id, fence, attempt id, carrier, event id, whether it will.
 */
export const intendToDial = statement<{ readonly id: string }>(
  'intend_to_dial',
  `with ${dialLease}, wanted as (
     select h.run_id from held h join runs r on r.id = h.run_id
     where r.status in ('queued', 'in_progress') and r.cancel_requested_at is null
       and not exists (select 1 from do_not_call d where d.account_id = r.account_id and d.phone = r.phone)
   ), attempt as (
     insert into attempts (id, run_id, number, carrier, state)
     select $3, w.run_id, 1, $4, 'dialing' from wanted w
     on conflict (run_id, number) do nothing
     returning id, run_id
   ), started as (
     update runs r set status = 'in_progress', attempt_id = a.id from attempt a where r.id = a.run_id
   ), ${appendEvent('attempt', {
     id: '$5',
     type: `'call.attempt_started'`,
     details: `case when $6 then json_build_object('attempt_id', s.id, 'carrier', $4::text)
               else json_build_object('attempt_id', s.id, 'carrier', $4::text, 'disclosure', 'off') end`,
   })}
   select id from attempt`,
);

/** Records that the phone rings. Values: run id, fence, attempt id, provider call id, event id. */
export const recordRinging = statement<{ readonly id: string }>(
  'record_ringing',
  `with ${dialLease}, attempt as (
     update attempts t set state = 'ringing', ringing_at = now(), provider_call_id = coalesce($4, t.provider_call_id)
     from held h where t.id = $3 and t.run_id = h.run_id and t.state = 'dialing'
     returning t.id, t.run_id
   ), ${appendEvent('attempt', {
     id: '$5',
     type: `'call.ringing'`,
     details: `json_build_object('attempt_id', s.id)`,
   })}
   select id from attempt`,
);

/** Records the answer. Values: run id, fence, attempt id, provider call id, event id. */
export const recordAnswer = statement<{ readonly id: string }>(
  'record_answer',
  `with ${dialLease}, attempt as (
     update attempts t set state = 'answered', answered_at = now(),
                           provider_call_id = coalesce($4, t.provider_call_id)
     from held h where t.id = $3 and t.run_id = h.run_id and t.state in ('dialing', 'ringing')
     returning t.id, t.run_id
   ), ${appendEvent('attempt', {
     id: '$5',
     type: `'call.connected'`,
     details: `json_build_object('attempt_id', s.id)`,
   })}
   select id from attempt`,
);

/**
 * Keeps one turn. Values: run id, fence, attempt id, index, speaker, text, offset in ms, interrupted, notes (JSON text
 * or null), event id, event type, latency (JSON text or null).
 */
export const recordTurn = statement<{ readonly attempt_id: string }>(
  'record_turn',
  `with ${dialLease}, turn as (
     insert into turns (attempt_id, index, speaker, text, offset_ms, interrupted, notes, latency)
     select $3, $4, $5, $6, $7, $8, $9::json, $12::json from held
     on conflict (attempt_id, index) do nothing
     returning attempt_id, index
   ), source as (select h.run_id, t.attempt_id, t.index from held h cross join turn t),
   ${appendEvent('source', {
     id: '$10',
     type: '$11',
     details: `json_build_object('attempt_id', s.attempt_id, 'turn', s.index)`,
   })}
   select attempt_id from turn`,
);

/**
 * Keeps the number of whom a run calls from being called again, before the turn that says so is complete. A row: it
 * was not kept yet. Values: run id, fence.
 */
export const recordOptOut = statement<{ readonly phone: string }>(
  'record_opt_out',
  `with ${dialLease}
   insert into do_not_call (account_id, phone, run_id)
   select r.account_id, r.phone, r.id from held h join runs r on r.id = h.run_id where r.phone is not null
   on conflict do nothing returning phone`,
);

/**
 * Ends a run's telephone execution: the attempt (if there is one), the job and its slots, the run's status and
 * error, the extraction job and the events, all or nothing. A row: it ended now.
 * Values: run id, fence, status, error code, error detail, attempt outcome, ended by, SIP status, Q.850, note,
 * whether to extract, event ids (2), type of the run's own event.
 */
export const endExecution = statement<{ readonly run_id: string }>(
  'end_execution',
  endText(`${releaseSlots('done')},`, 'd.run_id'),
);

/**
 * The same for a run of a call, with what follows for the call in the same transaction; the slots are given back at its
 * end (`releaseCallSlots`), so that the counters of all accounts are not held meanwhile. A row: it ended now.
 */
export const endCallRun = statement<{
  readonly account_id: string;
  /** Whose slot the job held; null when it only waited. */
  readonly carrier: string | null;
}>('end_call_run', endText('', 'd.account_id, d.carrier'));

function endText(slots: string, columns: string): string {
  return `with ${dialLease}, done as (
     delete from jobs j where j.queue = 'dial' and j.subject_id = (select run_id from held)
     returning j.subject_id as run_id, j.account_id, j.carrier, j.inbound
   ), ${slots} run as (
     update runs r set status = $3, error_code = $4, error_detail_code = $5,
                       completed_at = greatest(now(), r.created_at)
     from done d where r.id = d.run_id and r.status in ('queued', 'in_progress')
     returning r.id as run_id, r.account_id, r.call_id
   ), attempt as (
     update attempts t set state = 'ended', outcome = $6, ended_by = $7, sip_status = $8, q850 = $9, note = $10,
                           ended_at = now()
     from done d where t.run_id = d.run_id and t.state <> 'ended'
     returning t.run_id, t.id
   ), extraction as (
     -- The results of a call are drawn together, when it is concluded.
     insert into jobs (queue, subject_id, account_id, due_at)
     select 'extract', r.run_id, r.account_id, now() from run r where $11 and r.call_id is null
     on conflict do nothing
   ), ${appendEvents(
     'done',
     2,
     `select 1 as place, a.run_id, $12 as id, 'call.attempt_ended' as type,
             json_build_object('attempt_id', a.id, 'outcome', $6::text) as details from attempt a
      union all
      select 2, r.run_id, $13, case when r.call_id is null then $14 else 'call.ended' end,
             json_build_object('status', $3::text, 'detail_code', $5::text) from run r`,
   )}
   select ${columns} from done d`;
}

/** Keeps who answered; the last word counts. Values: run id, fence, attempt id, who. */
export const recordAnsweredBy = statement<{ readonly id: string }>(
  'record_answered_by',
  `with ${dialLease}
   update attempts t set answered_by = $4 from held h where t.id = $3 and t.run_id = h.run_id returning t.id`,
);

/** Keeps what was measured of an attempt's sound. Values: run id, fence, attempt id, media (JSON text). */
export const recordMedia = statement<{ readonly id: string }>(
  'record_media',
  `with ${dialLease}
   update attempts t set media = $4::json from held h where t.id = $3 and t.run_id = h.run_id returning t.id`,
);

/** Whether anything may have left for the carrier. Values: run id. */
export const findAttempt = statement<{ readonly id: string; readonly state: string }>(
  'find_attempt',
  'select id, state from attempts where run_id = $1 order by number desc limit 1',
);

/** Asks for the end of a run that has not ended. Values: run id. */
export const requestCancel = statement<{ readonly id: string }>(
  'request_cancel',
  `update runs set cancel_requested_at = coalesce(cancel_requested_at, now())
   where id = $1 and status in ('queued', 'in_progress') returning id`,
);

/** Takes a waiting dial job, whatever its due time, in order to end it; it holds no slot. Values: run id, worker. */
export const claimToCancel = statement<{ readonly fence: number; readonly call_id: string | null }>(
  'claim_to_cancel',
  `update jobs set worker = $2, leased_until = now() + interval '10 seconds', fence = fence + 1
   where queue = 'dial' and subject_id = $1 and worker is null
   returning fence, (select call_id from runs where id = $1) as call_id`,
);
