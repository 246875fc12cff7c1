/**
 * The queue's table. A job is free (`worker` null) or leased; a lease is a worker's name, a deadline on the
 * database's clock and a fence that grows with every claim. A dial job that is leased holds one slot of its
 * account, of its carrier and of the deployment: claim and release move the job and the counters in one
 * statement, so they can not drift apart. The job of an inbound call is leased from its beginning (`inbound.ts`), and
 * holds a slot of its account's inbound calls instead.
 *
 * Rows of `jobs` are named by a sub-select, not by a join: a join with one row looks just as cheap the wrong way
 * round while the table is empty, and that plan is kept.
 *
 * Locks are taken in the order job → call → account → capacity by whoever releases: what all accounts share comes last
 * and is held shortest. A claim takes capacity first, but steps over locked accounts and jobs instead of waiting for
 * them, so the two can not wait for each other.
 */
import type { GoalFile, Scalar } from '@trunkcall/contract';
import { statement } from './database.ts';

/** What is to be done: dial a run, draw the result of a run, conclude a call. */
export type Queue = 'dial' | 'extract' | 'conclude';

/** Why a lease ended before its work did. */
export type LeaseStop = 'lost' | 'canceled' | 'shutdown';

/** The right of one worker to work on one job, for as long as it renews it. */
export interface Lease {
  readonly queue: Queue;
  /** The run, or for `conclude` the call, that the work is for. */
  readonly subjectId: string;
  readonly accountId: string;
  /** Goes with every write. */
  readonly fence: number;
  /** Which try this is, from 1. */
  readonly tries: number;
  /** Aborts when the work must stop; `reason` is a `LeaseStop`. */
  readonly signal: AbortSignal;
  /** Whether the lease certainly still holds, by this machine's monotonic clock. */
  holds(): boolean;
}

export interface ClaimedJob {
  readonly subject_id: string;
  readonly account_id: string;
  readonly fence: number;
  readonly tries: number;
}

/** A claimed dial job with what a worker must know of its run. */
export interface DialJob extends ClaimedJob {
  /** The call that the run belongs to; null for a Goal Run. */
  readonly call_id: string | null;
  readonly account_name: string;
  /** Whether the first sentence says that an automated assistant is calling. */
  readonly disclosure: boolean;
  /** The account's own number, to be shown to the callee; null lets the carrier choose. */
  readonly from: string | null;
  readonly phone: string;
  readonly variables: Readonly<Record<string, Scalar>>;
  readonly cancel: boolean;
  /** The callee asked this account never to call again. */
  readonly do_not_call: boolean;
  /** The number is one of ours: a call to it would come back to us. */
  readonly ours: boolean;
  readonly age_ms: number;
  readonly content: GoalFile;
}

/**
 * The part of a statement that gives back the slots of the one job in `source` (account_id, carrier, inbound). The shared
 * counters are locked in the order of their names, as a claim does; an update alone would take them in any order. They
 * are looked for only behind the account, so that nobody waits for an account while all others wait for them.
 */
export const releaseSlots = (source: string): string => `slot as (
     update accounts a set active_calls = a.active_calls - case when s.inbound then 0 else 1 end,
                           active_inbound_calls = a.active_inbound_calls - case when s.inbound then 1 else 0 end
     from ${source} s where a.id = s.account_id and s.carrier is not null
     returning s.carrier
   ), gates as materialized (
     select c.scope from capacity c
     where c.scope in (select unnest(array['deployment', 'carrier:' || s.carrier]) from slot s)
     order by c.scope for no key update of c
   ), gated as (
     update capacity c set active_calls = c.active_calls - 1 from gates g where c.scope = g.scope
   )`;

/**
 * Claims due dial jobs, fairly and within all limits.
 *
 * The owners of waiting jobs are found by stepping through the index from one to the next, so an owner with
 * 50,000 jobs costs as much as one with a single job, and one whose limit is reached is passed over. Of each
 * owner's oldest jobs the first go before all second ones.
 *
 * Values: worker, carrier, scopes, limits (by scope), most jobs, lease in milliseconds.
 */
export const claimDialJobs = statement<DialJob>(
  'claim_dial_jobs',
  `with recursive gates as materialized (
     select l.max_calls - c.active_calls as room
     from unnest($3::text[], $4::int[]) as l (scope, max_calls) join capacity c on c.scope = l.scope
     order by c.scope for no key update of c
   ), owners as (
     (select account_id from jobs where queue = 'dial' and worker is null order by account_id limit 1)
     union all
     select (select j.account_id from jobs j
             where j.queue = 'dial' and j.worker is null and j.account_id > o.account_id
             order by j.account_id limit 1)
     from owners o where o.account_id is not null
   ), open_accounts as materialized (
     select a.id, a.room
     from owners o cross join lateral (
       select id, max_active_calls - active_calls as room from accounts
       where id = o.account_id and active_calls < max_active_calls
       for no key update skip locked
     ) a
     where (select min(room) from gates) > 0
   ), oldest as materialized (
     select j.subject_id, j.due_at, row_number() over (partition by a.id order by j.due_at) as place
     from open_accounts a cross join lateral (
       select subject_id, due_at from jobs
       where queue = 'dial' and worker is null and account_id = a.id and due_at <= now()
       order by due_at limit least(a.room, $5) for no key update skip locked
     ) j
   ), chosen as materialized (
     select subject_id from oldest order by place, due_at
     limit least($5, (select min(room) from gates))
   ), leased as (
     update jobs j set worker = $1, carrier = $2, leased_until = now() + $6 * interval '1 millisecond',
                       fence = j.fence + 1, tries = j.tries + 1
     where j.queue = 'dial' and j.subject_id = any (array(select subject_id from chosen))
     returning j.subject_id, j.account_id, j.fence, j.tries
   ), counted as (
     update accounts a set active_calls = a.active_calls + n.calls
     from (select account_id, count(*)::int as calls from leased group by account_id) n
     where a.id = n.account_id
   ), gated as (
     update capacity c set active_calls = c.active_calls + (select count(*)::int from leased)
     where c.scope = any ($3) and exists (select 1 from leased)
   )
   select l.subject_id, l.account_id, l.fence, l.tries, r.call_id, a.name as account_name, a.disclosure,
          a.default_number as "from", r.phone, r.variables,
          r.cancel_requested_at is not null as cancel,
          exists (select 1 from do_not_call d where d.account_id = l.account_id and d.phone = r.phone) as do_not_call,
          exists (select 1 from numbers n where n.phone = r.phone) as ours,
          (extract(epoch from now() - r.created_at) * 1000)::float8 as age_ms, s.content
   from leased l
   left join lateral (select * from runs where id = l.subject_id limit 1) r on true
   left join lateral (
     select name, default_number, disclosure_off_at is null as disclosure
     from accounts where id = l.account_id limit 1
   ) a on true
   left join lateral (select content from run_specs where id = r.run_spec_id limit 1) s on true`,
);

/** Claims due jobs that take no slot. Values: worker, queue, most jobs, lease in milliseconds. */
export const claimJobs = statement<ClaimedJob>(
  'claim_jobs',
  `with chosen as materialized (
     select subject_id from jobs
     where queue = $2 and worker is null and due_at <= now()
     order by account_id, due_at limit $3 for no key update skip locked
   )
   update jobs j set worker = $1, leased_until = now() + $4 * interval '1 millisecond',
                     fence = j.fence + 1, tries = j.tries + 1
   where j.queue = $2 and j.subject_id = any (array(select subject_id from chosen))
   returning j.subject_id, j.account_id, j.fence, j.tries`,
);

/**
 * Renews leases. A row per lease that is still held, with whether somebody wants its run stopped; no row: lost. One
 * whose job somebody has locked just now, such as its own end, is not waited for: it is held, but not renewed.
 * Values: queues, run ids, fences, lease in milliseconds.
 */
export const renewLeases = statement<{
  readonly queue: Queue;
  readonly subject_id: string;
  readonly renewed: boolean;
  readonly cancel: boolean;
}>(
  'renew_leases',
  `with held as materialized (
     select j.queue, j.subject_id
     from unnest($1::text[], $2::text[], $3::bigint[]) as h (queue, subject_id, fence)
     cross join lateral (
       select queue, subject_id from jobs
       where queue = h.queue and subject_id = h.subject_id and fence = h.fence and worker is not null limit 1
     ) j
   ), free as materialized (
     select j.queue, j.subject_id
     from held h cross join lateral (
       select queue, subject_id from jobs where queue = h.queue and subject_id = h.subject_id
       for no key update skip locked
     ) j
   ), renewed as (
     update jobs j set leased_until = now() + $4 * interval '1 millisecond'
     from free f where j.queue = f.queue and j.subject_id = f.subject_id
     returning j.queue, j.subject_id
   )
   select h.queue, h.subject_id,
     exists (select 1 from renewed r where r.queue = h.queue and r.subject_id = h.subject_id) as renewed,
     coalesce((select r.cancel_requested_at is not null from runs r where r.id = h.subject_id limit 1), false) as cancel
   from held h`,
);

/** Jobs whose worker has not renewed in time, oldest first. Values: most jobs. */
export const findExpiredJobs = statement<{
  readonly queue: Queue;
  readonly subject_id: string;
}>(
  'find_expired_jobs',
  `(select queue, subject_id, leased_until from jobs
    where queue = 'dial' and worker is not null and leased_until < now() order by leased_until limit $1)
   union all
   (select queue, subject_id, leased_until from jobs
    where queue = 'extract' and worker is not null and leased_until < now() order by leased_until limit $1)
   union all
   (select queue, subject_id, leased_until from jobs
    where queue = 'conclude' and worker is not null and leased_until < now() order by leased_until limit $1)
   order by leased_until limit $1`,
);

/**
 * Takes an expired lease away from its worker: from here on its fence is refused everywhere. The caller holds
 * the row's lock until it has decided what becomes of the job. Values: queue, run id.
 */
export const seizeExpiredJob = statement<{
  readonly fence: number;
  readonly tries: number;
  readonly account_id: string;
  /** Of an inbound call. */
  readonly inbound: boolean;
  /** The call of the run of a dial job. */
  readonly call_id: string | null;
}>(
  'seize_expired_job',
  `update jobs set fence = fence + 1
   where queue = $1 and subject_id = (
     select subject_id from jobs where queue = $1 and subject_id = $2 and worker is not null and leased_until < now()
     for no key update skip locked)
   returning fence, tries, account_id, inbound, (select call_id from runs where id = $2) as call_id`,
);

/**
 * Puts a leased job back for later (a call that is to be stopped at once), and gives its slots back. Values: subject id,
 * fence, queue, delay in milliseconds from now, whether the try counts.
 */
export const putBackJob = statement<{ readonly subject_id: string }>(
  'put_back_job',
  `with held as (
     select subject_id, account_id, carrier, inbound from jobs
     where queue = $3 and subject_id = $1 and fence = $2 and worker is not null for no key update
   ), freed as (
     update jobs j set worker = null, carrier = null, leased_until = null,
                       due_at = case when j.queue = 'dial' and exists (
                                       select 1 from runs r where r.id = j.subject_id and r.cancel_requested_at is not null)
                                     then now() else now() + $4 * interval '1 millisecond' end,
                       tries = case when $5 then j.tries else greatest(j.tries - 1, 0) end
     where j.queue = $3 and j.subject_id = (select subject_id from held)
     returning j.subject_id
   ), ${releaseSlots('held')}
   select subject_id from freed`,
);

/** Gives back the slots of a job that was ended before in the same transaction. Values: account id, carrier. */
export const releaseCallSlots = statement<never>(
  'release_call_slots',
  `with source as (select $1::text as account_id, $2::text as carrier, false as inbound), ${releaseSlots('source')} select 1`,
);

/** Makes sure that the shared counters exist. Values: scopes. */
export const ensureCapacity = statement<never>(
  'ensure_capacity',
  'insert into capacity (scope) select unnest($1::text[]) on conflict do nothing',
);

/**
 * Ends all leases at once, of jobs and of keys whose calls are being created. Only for the embedded database, where the lock on the data directory proves that
 * no other process can hold one.
 */
export const expireAllLeases = statement<never>(
  'expire_all_leases',
  `with creations as (
     update call_keys set creating_until = now() - interval '1 second' where creator is not null
   )
   update jobs set leased_until = now() - interval '1 second' where worker is not null`,
);
