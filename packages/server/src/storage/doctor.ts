/** What the operator's check-up asks the database. Reads only; each statement is one snapshot. */
import { statement } from './database.ts';
import type { Queue } from './jobs.ts';

export const readServerVersion = statement<{ readonly version: string }>(
  'doctor_server_version',
  `select current_setting('server_version') as version`,
);

export const listMigrations = statement<{ readonly name: string; readonly applied_at: Date }>(
  'doctor_migrations',
  'select name, applied_at from schema_migrations order by version',
);

export interface QueueRow {
  readonly queue: Queue;
  readonly waiting: number;
  /** Waiting and due: a worker could take them now. */
  readonly due: number;
  readonly leased: number;
  /** Leased by a worker that has not renewed in time. */
  readonly expired: number;
  readonly oldest_due_seconds: number | null;
}

export const readQueues = statement<QueueRow>(
  'doctor_queues',
  `select queue, count(*) filter (where worker is null) as waiting,
          count(*) filter (where worker is null and due_at <= now()) as due,
          count(*) filter (where worker is not null) as leased,
          count(*) filter (where leased_until < now()) as expired,
          extract(epoch from now() - min(due_at) filter (where worker is null and due_at <= now()))::float8
            as oldest_due_seconds
   from jobs group by queue order by queue`,
);

export interface WorkerRow {
  readonly worker: string;
  readonly queue: Queue;
  readonly leases: number;
  readonly lease_seconds_left: number;
}

export const readWorkers = statement<WorkerRow>(
  'doctor_workers',
  `select worker, queue, count(*) as leases,
          extract(epoch from min(leased_until) - now())::float8 as lease_seconds_left
   from jobs where worker is not null group by worker, queue order by worker, queue`,
);

export interface CounterRow {
  /** 'account:<id>', 'inbound:<account id>', 'deployment' or 'carrier:<name>'. */
  readonly scope: string;
  readonly counted: number;
  readonly leased: number;
}

/** Counters of live calls that differ from the leases that they count; none when all is well. */
export const readWrongCounters = statement<CounterRow>(
  'doctor_wrong_counters',
  `with held as (select account_id, carrier, inbound from jobs where queue = 'dial' and worker is not null and carrier is not null),
   counters as (
     select 'account:' || a.id as scope, a.active_calls as counted,
            (select count(*) from held h where h.account_id = a.id and not h.inbound) as leased from accounts a
     union all
     select 'inbound:' || a.id, a.active_inbound_calls,
            (select count(*) from held h where h.account_id = a.id and h.inbound) from accounts a
     union all
     select c.scope, c.active_calls,
            (select count(*) from held h where c.scope in ('deployment', 'carrier:' || h.carrier)) from capacity c
   )
   select scope, counted, leased from counters where counted <> leased order by scope limit 100`,
);
