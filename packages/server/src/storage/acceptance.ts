/**
 * The hot statements of acceptance.
 *
 * Both take arrays, one element per request, and answer with rows that carry the request's `run_id`. Every
 * look-up is a LATERAL with LIMIT 1 on a primary key: the planner has no choice but the index, even while a
 * freshly filled table still has the statistics of an empty one.
 */
import type { GoalFile } from '@trunkcall/contract';
import { statement, type SqlValue } from './database.ts';
import { runColumns, type RunRow } from './runs.ts';

/** A Run that is ready to be inserted, with everything that it was validated against. */
export interface Candidate {
  readonly runId: string;
  readonly publicId: string;
  readonly accountId: string;
  readonly goalId: string;
  readonly runSpecId: string;
  readonly runSpecVersion: number;
  readonly phone: string;
  /** JSON text. */
  readonly variables: string;
  readonly idempotencyKey: string;
  /** 32 bytes. */
  readonly fingerprint: Buffer;
  /** When the calling window opens; null when the Run may be dialled at once. */
  readonly dueAt: Date | null;
}

/**
 * One row per request that was accepted now (`accepted`: only `asked` and `created_at` are set besides) or
 * whose key was there before (`known`: the Run as it stands). No row: the Goal no longer publishes what the
 * request was validated against, the number must not be called, or an equal request is just being committed.
 */
export interface AcceptRow extends RunRow {
  readonly asked: string;
  readonly outcome: 'accepted' | 'known';
  readonly same_request: boolean;
}

export const acceptRuns = statement<AcceptRow>(
  'accept_runs',
  `with asked as materialized (
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::int[], $7::text[],
                          $8::text[], $9::text[], $10::bytea[], $11::timestamptz[])
       as a (run_id, public_id, account_id, goal_id, run_spec_id, run_spec_version, phone,
             variables, key, fingerprint, due_at)
   ), known as materialized (
     select a.run_id as asked, k.run_id, k.fingerprint = a.fingerprint as same_request
     from asked a cross join lateral (
       select i.run_id, i.fingerprint from idempotency_keys i where i.scope = a.goal_id and i.key = a.key limit 1
     ) k
   ), fitting as materialized (
     select a.* from asked a cross join lateral (
       select 1 from goals g
       where g.id = a.goal_id and g.account_id = a.account_id and g.state = 'active' and g.listed
         and g.published_run_spec_id = a.run_spec_id
       limit 1
     ) g
     where not exists (select 1 from known k where k.asked = a.run_id)
       and not exists (select 1 from do_not_call d where d.account_id = a.account_id and d.phone = a.phone)
   ), claimed as (
     -- In key order, so that two batches that share keys can not lock each other out.
     insert into idempotency_keys (scope, key, fingerprint, run_id)
     select goal_id, key, fingerprint, run_id from fitting order by goal_id, key
     on conflict do nothing
     returning run_id
   ), accepted as (
     insert into runs (id, public_id, account_id, goal_id, run_spec_id, run_spec_version, phone, variables, status)
     select f.run_id, f.public_id, f.account_id, f.goal_id, f.run_spec_id, f.run_spec_version, f.phone,
            f.variables::json, case when f.due_at is null then 'in_progress' else 'queued' end
     from claimed c join fitting f using (run_id)
     returning id, created_at
   ), enqueued as (
     insert into jobs (queue, subject_id, account_id, due_at)
     select 'dial', f.run_id, f.account_id, coalesce(f.due_at, now())
     from claimed c join fitting f using (run_id)
   )
   select id as asked, 'accepted' as outcome, true as same_request,
          null as id, null as public_id, null as goal_id, null as run_spec_id, null::int as run_spec_version,
          null as status, null as attempt_id, null::json as result, null as error_code,
          null as error_detail_code, created_at, null::timestamptz as completed_at
   from accepted
   union all
   select k.asked, 'known', k.same_request, r.*
   from known k cross join lateral (select ${runColumns} from runs r where r.id = k.run_id limit 1) r`,
);

/** Binds a batch to `acceptRuns`: one array per column. */
export function acceptValues(batch: readonly Candidate[]): SqlValue[] {
  return [
    batch.map((c) => c.runId),
    batch.map((c) => c.publicId),
    batch.map((c) => c.accountId),
    batch.map((c) => c.goalId),
    batch.map((c) => c.runSpecId),
    batch.map((c) => c.runSpecVersion),
    batch.map((c) => c.phone),
    batch.map((c) => c.variables),
    batch.map((c) => c.idempotencyKey),
    batch.map((c) => c.fingerprint),
    batch.map((c) => c.dueAt),
  ];
}

/** A Goal as acceptance needs it. */
export interface AcceptingGoal {
  readonly state: 'draft' | 'active' | 'paused' | 'retired';
  readonly listed: boolean;
  readonly run_spec_id: string | null;
  readonly run_spec_version: number | null;
  readonly content: GoalFile | null;
}

/** A Goal of the account with its published RunSpec. Values: goal id, account id. */
export const findAcceptingGoal = statement<AcceptingGoal>(
  'find_accepting_goal',
  `select g.state, g.listed, s.id as run_spec_id, s.version as run_spec_version, s.content
   from goals g left join run_specs s on s.id = g.published_run_spec_id
   where g.id = $1 and g.account_id = $2`,
);

/** The Run that a key was used for. Values: goal id, key, fingerprint. */
export const findRunByKey = statement<RunRow & { readonly same_request: boolean }>(
  'find_run_by_key',
  `select ${runColumns}, k.fingerprint = $3::bytea as same_request
   from idempotency_keys k join runs r on r.id = k.run_id
   where k.scope = $1 and k.key = $2`,
);

/** Values: account id, phone. */
export const isDoNotCall = statement<{ readonly found: number }>(
  'is_do_not_call',
  `select 1 as found from do_not_call where account_id = $1 and phone = $2`,
);
