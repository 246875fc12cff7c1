/**
 * Calls to our numbers: who answers one, and the statement that takes it in before it is answered.
 *
 * Locks as everywhere: account → capacity; nobody knows the new job yet. Goal and number stand between the two, in the
 * order of those who publish, so that nobody waits for an author while all others wait for capacity.
 */
import type { GoalFile } from '@trunkcall/contract';
import { statement, type SqlValue } from './database.ts';
import { runColumns, type RunRow } from './runs.ts';

/** A number of ours with what answers it; the columns of a Goal are null where none does, or none is published. */
export interface LineRow {
  readonly number_id: string;
  readonly account_id: string | null;
  readonly account_name: string | null;
  readonly goal_id: string | null;
  readonly goal_state: 'draft' | 'active' | 'paused' | 'retired' | null;
  readonly run_spec_id: string | null;
  readonly run_spec_version: number | null;
  readonly content: GoalFile | null;
}

/** The first of some readings of a dialled number that is ours. Values: numbers. */
export const findLine = statement<LineRow>(
  'find_line',
  `select n.id as number_id, n.account_id, a.name as account_name, g.id as goal_id, g.state as goal_state,
          s.id as run_spec_id, s.version as run_spec_version, s.content
   from unnest($1::text[]) with ordinality as d (phone, place)
   cross join lateral (select * from numbers where phone = d.phone limit 1) n
   left join lateral (select id, name from accounts where id = n.account_id limit 1) a on true
   left join lateral (select id, state, published_run_spec_id from goals where id = n.inbound_goal_id limit 1) g on true
   left join lateral (select id, version, content from run_specs where id = g.published_run_spec_id limit 1) s on true
   order by d.place limit 1`,
);

export interface AcceptedInbound {
  readonly runId: string;
  readonly publicId: string;
  readonly accountId: string;
  readonly goalId: string;
  readonly runSpecId: string;
  readonly runSpecVersion: number;
  readonly numberId: string;
  /** Null for a caller who does not show it. */
  readonly phone: string | null;
  /** JSON text. */
  readonly variables: string;
  readonly attemptId: string;
  readonly carrier: string;
  readonly providerCallId: string;
  /** Of the call, the same for every copy of its request. */
  readonly identity: string;
  /** 32 bytes. */
  readonly fingerprint: Buffer;
  readonly worker: string;
  readonly leaseMs: number;
  readonly scopes: readonly string[];
  /** By scope. */
  readonly limits: readonly number[];
  readonly eventId: string;
}

/** Why nothing was stored, when nothing was. */
export interface AcceptInboundRow {
  readonly accepted: boolean;
  /** The number, its Goal and what it publishes are still what was looked at. */
  readonly unchanged: boolean;
  /** Calls that the account could still take. */
  readonly account_room: number;
  /** The same of the carrier and the deployment; null when nobody asked: no room in the account, or not `unchanged`. */
  readonly room: number | null;
}

/**
 * Takes an inbound call in: its run, its attempt that rings, its leased job and the slots that this holds, all or
 * nothing. One row. `unchanged`, with room, and not `accepted`: a copy of the call was taken in before, and was answered,
 * is still to be, or was given up. One that failed by our fault before it was answered makes way for the copy.
 *
 * What has changed since the call was looked at, and while it waited for the account, is seen: a row that is locked is read
 * as it stands then, with its conditions, and not as the statement's snapshot has it. Whoever pauses the Goal or moves
 * the number does so before, or behind the commit.
 */
export const acceptInbound = statement<AcceptInboundRow>(
  'accept_inbound',
  `with account as materialized (
     select id, max_inbound_calls - active_inbound_calls as room from accounts where id = $3 for no key update
   ), unchanged as materialized (
     select n.id
     from account a cross join lateral (
       select id from goals
       where id = $4 and state = 'active' and published_run_spec_id = $5 and a.room > 0 for share
     ) g cross join lateral (
       select id from numbers where id = $7 and account_id = $3 and inbound_goal_id = g.id for share
     ) n
   ), gates as materialized (
     select l.max_calls - c.active_calls as room
     from unchanged u cross join unnest($17::text[], $18::int[]) as l (scope, max_calls)
     join capacity c on c.scope = l.scope
     order by c.scope for no key update of c
   ), claimed as (
     insert into idempotency_keys as k (scope, key, fingerprint, run_id)
     select u.id, $13, $14, $1 from unchanged u where (select min(room) from gates) > 0
     on conflict (scope, key) do update set run_id = excluded.run_id
     where (select r.error_code from runs r where r.id = k.run_id limit 1) = 'call_failed'
       and (select a.answered_at from attempts a where a.run_id = k.run_id and a.number = 1 limit 1) is null
     returning run_id
   ), run as (
     insert into runs (id, public_id, account_id, goal_id, run_spec_id, run_spec_version, number_id, direction, phone,
                       variables, status, attempt_id)
     select c.run_id, $2, $3, $4, $5, $6, $7, 'inbound', $8, $9::json, 'in_progress', $10 from claimed c
     returning id
   ), attempt as (
     insert into attempts (id, run_id, number, carrier, state, provider_call_id, ringing_at)
     select $10, r.id, 1, $11, 'ringing', $12, now() from run r
   ), job as (
     insert into jobs (queue, subject_id, account_id, due_at, tries, fence, worker, carrier, leased_until, inbound)
     select 'dial', r.id, $3, now(), 1, 1, $15, $11, now() + $16 * interval '1 millisecond', true from run r
   ), counted as (
     update accounts a set active_inbound_calls = a.active_inbound_calls + 1 from run r where a.id = $3
   ), gated as (
     update capacity c set active_calls = c.active_calls + 1 where c.scope = any ($17) and exists (select 1 from run)
   ), event as (
     insert into events (trace_id, seq, id, type, details)
     select r.id, 1, $19, 'call.ringing', json_build_object('attempt_id', $10::text) from run r
   )
   select exists (select 1 from run) as accepted, exists (select 1 from unchanged) as unchanged,
          (select room from account) as account_room, (select min(room) from gates) as room`,
);

/** Binds a call to `acceptInbound`. */
export function acceptInboundValues(call: AcceptedInbound): SqlValue[] {
  return [
    call.runId,
    call.publicId,
    call.accountId,
    call.goalId,
    call.runSpecId,
    call.runSpecVersion,
    call.numberId,
    call.phone,
    call.variables,
    call.attemptId,
    call.carrier,
    call.providerCallId,
    call.identity,
    call.fingerprint,
    call.worker,
    call.leaseMs,
    call.scopes,
    call.limits,
    call.eventId,
  ];
}

const today = `(now() at time zone 'utc')::date`;
/** The counters of refused calls in `daily_usage`, by number. */
const refusedScope = (number: string, reason: string): string =>
  `'refused:' || ${number} || ':' || ${reason}`;

/** Counts a refused call on this day, and forgets the counts of more than a week ago. Values: number id, reason. */
export const countRefusedCall = statement<never>(
  'count_refused_call',
  `with old as (
     delete from daily_usage where day < ${today} - 7 and scope like 'refused:%'
   )
   insert into daily_usage as u (day, scope, calls) values (${today}, ${refusedScope('$1::text', '$2::text')}, 1)
   on conflict (day, scope) do update set calls = u.calls + 1`,
);

/** The refused calls of today, `{reason: calls}`, of the number in `id`, as SQL. */
export const refusedToday = (id: string): string =>
  `coalesce((
     select json_object_agg(split_part(u.scope, ':', 3), u.calls) from daily_usage u
     where u.day = ${today} and u.scope >= ${refusedScope(id, "''")} and u.scope < ${refusedScope(id, "'~'")}
   ), '{}'::json)`;

/** The run that a copy of a call was taken in as last. Values: number id, identity. */
export const findRunOfCall = statement<{ readonly public_id: string; readonly goal_id: string }>(
  'find_run_of_call',
  `select r.public_id, r.goal_id from idempotency_keys k join runs r on r.id = k.run_id
   where k.scope = $1 and k.key = $2`,
);

export interface InboundRunRow extends RunRow {
  readonly account_id: string;
  readonly phone: string | null;
  /** The number that was called; null when it is not ours any more. */
  readonly line: string | null;
}

/** Values: run id. */
export const findInboundRun = statement<InboundRunRow>(
  'find_inbound_run',
  `select ${runColumns}, r.account_id, r.phone, n.phone as line
   from runs r left join numbers n on n.id = r.number_id where r.id = $1 and r.direction = 'inbound'`,
);
