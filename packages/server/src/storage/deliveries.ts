/**
 * Deliveries on their way. One that is sent now is leased like a job: a worker's name, a deadline on the database's
 * clock, and a fence that grows with each claim and goes with each write (I6). A lease outlasts the longest try, so it
 * is never renewed.
 *
 * Locks are taken in the order deliveries (by id) → endpoints (by id); a claim steps over what is locked.
 */
import { statement } from './database.ts';
import type { DisabledReason } from './webhooks.ts';

export interface ClaimedDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly endpoint_id: string | null;
  readonly url: string;
  readonly lane: string;
  readonly fence: number;
  /** Which try this is, from 1. */
  readonly tries: number;
  /** Whether its endpoint has been disabled or removed: then it has ended instead of being leased. */
  readonly abandoned: boolean;
  readonly body: string;
  /** The secrets that sign it; empty leaves it unsigned. */
  readonly secrets: readonly string[];
}

/**
 * Claims deliveries that are ready, fairly. Lanes are found by stepping through the index from one to the next, so one
 * with 10,000 deliveries costs as much as one with a single one, and one without room is passed over. Of each lane's
 * oldest deliveries the first go before all second ones.
 *
 * Values: worker, room of a lane that is not named, names of lanes, their rooms, most deliveries, lease in milliseconds.
 */
export const claimDeliveries = statement<ClaimedDelivery>(
  'claim_webhook_deliveries',
  `with recursive lanes as (
     (select lane from webhook_deliveries where state = 'ready' and lane > '' order by lane limit 1)
     union all
     select (select d.lane from webhook_deliveries d where d.state = 'ready' and d.lane > l.lane
             order by d.lane limit 1)
     from lanes l where l.lane is not null
   ), open_lanes as materialized (
     select l.lane, coalesce((select n.room from unnest($3::text[], $4::int[]) as n (lane, room)
                              where n.lane = l.lane limit 1), $2::int) as room
     from lanes l where l.lane is not null
   ), oldest as materialized (
     select d.id, d.due_at, row_number() over (partition by o.lane order by d.due_at, d.id) as place
     from open_lanes o cross join lateral (
       select id, due_at from webhook_deliveries
       where state = 'ready' and lane = o.lane
       order by due_at, id limit least(o.room, $5::int) for no key update skip locked
     ) d
     where o.room > 0
   ), chosen as materialized (
     select id from oldest order by place, due_at, id limit $5::int
   ), closed as materialized (
     select d.id from chosen c cross join lateral (
       select id, endpoint_id from webhook_deliveries where id = c.id limit 1
     ) d
     where d.endpoint_id is not null
       and not exists (select 1 from webhook_endpoints w where w.id = d.endpoint_id and w.disabled_at is null)
   ), ended as (
     update webhook_deliveries d set state = 'abandoned', ended_at = now()
     where d.id = any (array(select id from closed))
     returning d.id, d.event_id, d.endpoint_id, d.url, d.lane, d.fence, d.tries, true as abandoned
   ), leased as (
     update webhook_deliveries d
     set state = 'sending', worker = $1::text, leased_until = now() + $6 * interval '1 millisecond',
         fence = d.fence + 1, tries = d.tries + 1
     where d.id = any (array(select id from chosen except select id from closed))
     returning d.id, d.event_id, d.endpoint_id, d.url, d.lane, d.fence, d.tries, false as abandoned
   )
   select t.*, e.body, coalesce(w.secrets, '{}') as secrets
   from (select * from leased union all select * from ended) t
   left join lateral (select body from webhook_events where id = t.event_id limit 1) e on true
   left join lateral (
     select array_remove(array[secret, case when previous_secret_until > now() then previous_secret end], null)
            as secrets
     from webhook_endpoints where id = t.endpoint_id limit 1
   ) w on true`,
);

/**
 * Writes down what became of tries, and of their endpoints: a success ends a series of failures; a 410, or a series
 * that is too long, disables the endpoint. A row for each endpoint that was disabled. Deliveries whose lease is lost
 * are passed over. (That a delivery is leased is asked of `worker`: asked of `state`, the plan that is made on an empty
 * table would read all leases.)
 *
 * Values, one each per try: delivery ids, fences, states, waits until the next try (milliseconds), whether the try
 * counts, starts (milliseconds ago), durations (milliseconds), statuses, errors, responses; and then the milliseconds
 * after which failing disables.
 */
export const recordTries = statement<{ readonly id: string; readonly disabled_reason: DisabledReason }>(
  'record_webhook_tries',
  `with held as materialized (
     select d.id, d.endpoint_id, d.fence, s.state, s.wait_ms, s.counts, s.started_ms, s.duration_ms, s.status, s.error,
            s.response
     from unnest($1::text[], $2::bigint[], $3::text[], $4::float8[], $5::boolean[], $6::float8[], $7::int[], $8::int[],
                 $9::text[], $10::text[])
            as s (id, fence, state, wait_ms, counts, started_ms, duration_ms, status, error, response)
     cross join lateral (
       select id, endpoint_id, fence from webhook_deliveries
       where id = s.id and fence = s.fence and worker is not null
       for no key update
     ) d
   ), moved as (
     update webhook_deliveries d
     set state = h.state, worker = null, leased_until = null, due_at = now() + h.wait_ms * interval '1 millisecond',
         tries = case when h.counts then d.tries else d.tries - 1 end, last_status = h.status, last_error = h.error,
         ended_at = case when h.state <> 'waiting' then now() end
     from held h where d.id = h.id
   ), written as (
     insert into webhook_tries (delivery_id, fence, started_at, duration_ms, status, error, response)
     select h.id, h.fence, now() - h.started_ms * interval '1 millisecond', h.duration_ms, h.status, h.error, h.response
     from held h
   ), verdicts as materialized (
     select endpoint_id, bool_or(state = 'delivered') as succeeded, bool_or(status is not distinct from 410) as gone
     from held where endpoint_id is not null and counts group by endpoint_id
   ), judged as materialized (
     select w.id, v.succeeded, v.gone
     from verdicts v cross join lateral (
       select id from webhook_endpoints
       where id = v.endpoint_id
         and (v.gone or case when v.succeeded then failing_since is not null
                             else failing_since is null or failing_since < now() - $11 * interval '1 millisecond' end)
       limit 1
     ) w
   ), locked as materialized (
     select id from webhook_endpoints where id = any (array(select id from judged)) order by id for no key update
   ), changed as (
     update webhook_endpoints w
     set failing_since = case when j.succeeded then null else coalesce(w.failing_since, now()) end,
         disabled_reason = case when w.disabled_reason is not null then w.disabled_reason
                                when j.gone then 'gone'
                                when not j.succeeded and w.failing_since < now() - $11 * interval '1 millisecond'
                                then 'failing' end,
         disabled_at = case when w.disabled_at is not null then w.disabled_at
                            when j.gone or (not j.succeeded
                                 and w.failing_since < now() - $11 * interval '1 millisecond') then now() end
     from judged j where w.id = j.id and w.id in (select id from locked)
     returning w.id, w.disabled_reason, w.disabled_at
   )
   select id, disabled_reason from changed where disabled_at = now()`,
);

/** Gives back deliveries that were claimed and not tried. Values: delivery ids, fences. */
export const putBackDeliveries = statement<never>(
  'put_back_webhook_deliveries',
  `update webhook_deliveries d
   set state = 'ready', worker = null, leased_until = null, tries = d.tries - 1
   from unnest($1::text[], $2::bigint[]) as held (id, fence)
   where d.id = held.id and d.fence = held.fence and d.worker is not null`,
);

/**
 * Makes ready what is due: retries whose time has come, and deliveries whose worker has died. One whose last try it
 * was has failed: a delivery that kills its workers must end. A row per delivery.
 *
 * Values: most deliveries, tries of a delivery.
 */
export const readyDueDeliveries = statement<{ readonly id: string }>(
  'ready_due_webhook_deliveries',
  `with due as materialized (
     select id from webhook_deliveries where state = 'waiting' and due_at <= now()
     order by due_at limit $1 for no key update skip locked
   ), lost as materialized (
     select id from webhook_deliveries where state = 'sending' and leased_until < now()
     order by leased_until limit $1 for no key update skip locked
   )
   update webhook_deliveries d
   set state = case when d.state = 'sending' and d.tries >= $2 then 'failed' else 'ready' end,
       ended_at = case when d.state = 'sending' and d.tries >= $2 then now() end,
       last_error = case when d.state = 'sending' then 'worker_lost' else d.last_error end,
       last_status = case when d.state = 'sending' then null else d.last_status end,
       fence = d.fence + case when d.state = 'sending' then 1 else 0 end,
       worker = null, leased_until = null
   where d.id = any (array(select id from due union all select id from lost))
   returning d.id`,
);

/** Ends all leases. Only for the embedded database, where no other process can hold one. */
export const expireDeliveryLeases = statement<never>(
  'expire_webhook_leases',
  `update webhook_deliveries set leased_until = now() - interval '1 second' where state = 'sending'`,
);

/** Forgets the oldest events with all that belongs to them. A row per event. Values: age in milliseconds, most events. */
export const forgetOldEvents = statement<{ readonly id: string }>(
  'forget_old_webhook_events',
  `with old as materialized (
     select id from webhook_events where created_at < now() - $1 * interval '1 millisecond'
     order by created_at limit $2 for update skip locked
   ), deliveries as (
     delete from webhook_deliveries d where d.event_id = any (array(select id from old)) returning d.id
   ), tries as (
     delete from webhook_tries t where t.delivery_id = any (array(select id from deliveries))
   )
   delete from webhook_events e where e.id = any (array(select id from old)) returning e.id`,
);
