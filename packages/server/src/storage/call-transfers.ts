/** What is kept of transfers: events in the run's trace. The number stays in the RunSpec; its name tells whose it is. */
import { dialLease } from './attempts.ts';
import { statement } from './database.ts';
import { appendEvent } from './events.ts';

/**
 * Commits the intent to call somebody for the callee (I4). A row: this worker may call them, once. No row: the lease is
 * lost, the run has ended or is to be stopped, or the number must not be called: it is one of ours, or its owner asked
 * this account not to.
 * Values: run id, fence, attempt id, transfer id, event id, name, phone.
 */
export const intendToTransfer = statement<{ readonly run_id: string }>(
  'intend_to_transfer',
  `with ${dialLease}, wanted as (
     select h.run_id from held h join runs r on r.id = h.run_id
     where r.status = 'in_progress' and r.cancel_requested_at is null
       and not exists (select 1 from do_not_call d where d.account_id = r.account_id and d.phone = $7)
       and not exists (select 1 from numbers n where n.phone = $7)
   ), ${appendEvent('wanted', {
     id: '$5',
     type: `'call.transfer_started'`,
     details: `json_build_object('attempt_id', $3::text, 'transfer_id', $4::text, 'to', $6::text)`,
   })}
   select run_id from wanted`,
);

/**
 * Records that they were not connected. Safe to repeat: the event is written once.
 * Values: run id, fence, attempt id, transfer id, event id, name, why.
 */
export const recordTransferFailure = statement<{ readonly run_id: string }>(
  'record_transfer_failure',
  `with ${dialLease}, failed as (
     select h.run_id from held h
     where not exists (select 1 from events e where e.trace_id = h.run_id and e.id = $5)
   ), ${appendEvent('failed', {
     id: '$5',
     type: `'call.transfer_failed'`,
     details: `json_build_object('attempt_id', $3::text, 'transfer_id', $4::text, 'to', $6::text, 'why', $7::text)`,
   })}
   select run_id from failed`,
);
