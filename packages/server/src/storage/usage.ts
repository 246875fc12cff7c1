/**
 * What ended attempts would cost: one row for each, written by the sweep (`billing/sweep.ts`), never changed. Amounts
 * are millionths of a US dollar and come as text, because sums may be beyond 2^53.
 */
import { statement } from './database.ts';

/** Locks the mark; no row: another process sweeps. */
export const lockUsageMark = statement<{ readonly attempt_id: string }>(
  'lock_usage_mark',
  'select attempt_id from usage_mark where only_row for update skip locked',
);

/** Values: attempt id. */
export const moveUsageMark = statement<never>(
  'move_usage_mark',
  'update usage_mark set attempt_id = $1 where only_row and attempt_id < $1',
);

/** An attempt without a row, or the end of the page alone (`id` null). */
export interface UncountedRow {
  /** The last attempt that was looked at; null when there is none. */
  readonly last_id: string | null;
  /** The last one up to which all have ended or are given up, and are old enough; null when there is none. */
  readonly passed_id: string | null;
  /** How many were looked at. */
  readonly seen: number;
  readonly id: string | null;
  readonly run_id: string;
  readonly account_id: string;
  readonly goal_id: string | null;
  readonly call_id: string | null;
  readonly phone: string;
  readonly direction: 'outbound' | 'inbound';
  /** UTC day of the end; null while it has not ended. */
  readonly day: string | null;
  readonly answered_ms: number | null;
}

/**
 * Attempts of a page that have no row yet, in the order of their ids. How long a call was is told by the clock of the
 * leg, too: a simulated one has a clock of its own, and the answer may have been stored late.
 * Values: attempt id to begin behind, most attempts, first id that is too young to be passed, first id that is not
 * given up.
 */
export const findUncounted = statement<UncountedRow>(
  'find_uncounted_attempts',
  `with page as materialized (
     select id, run_id, answered_at, ended_at from attempts where id > $1 order by id limit $2
   )
   select e.last_id, e.passed_id, e.seen::int as seen, o.*
   from (
     select max(id) as last_id, count(*) as seen,
            max(id) filter (
              where id < least($3, (select min(id) from page where ended_at is null and id >= $4))
            ) as passed_id
     from page
   ) e
   left join lateral (
     select p.id, p.run_id, r.account_id, r.goal_id, r.call_id, r.phone, r.direction,
            (p.ended_at at time zone 'UTC')::date as day,
            case when p.answered_at is not null then greatest(
              0, ceil(extract(epoch from p.ended_at - p.answered_at) * 1000)::int8,
              (select t.offset_ms from turns t where t.attempt_id = p.id order by t.index desc limit 1)
            ) end as answered_ms
     from page p
     left join lateral (select attempt_id from usage where attempt_id = p.id limit 1) u on true
     cross join lateral (select account_id, goal_id, call_id, phone, direction from runs where id = p.run_id limit 1) r
     where u.attempt_id is null
   ) o on true
   order by o.id`,
);

/** A row of the table. */
export interface UsageRecord {
  readonly attempt_id: string;
  readonly run_id: string;
  readonly account_id: string;
  readonly goal_id: string | null;
  readonly call_id: string | null;
  readonly mode: 'goal' | 'one_shot';
  readonly direction: 'outbound' | 'inbound';
  readonly country: string | null;
  readonly domestic: boolean;
  readonly day: string;
  readonly answered_ms: number | null;
  readonly model_periods: number;
  readonly model_per_period: string;
  readonly model_amount: string;
  readonly carrier_seconds: number | null;
  readonly carrier_per_minute: string | null;
  readonly carrier_increments: string | null;
  readonly carrier_amount: string | null;
}

/**
 * Adds rows, and their sums to the months; a row that is there already is left out of both. Values: rows (JSON text).
 */
export const recordUsage = statement<never>(
  'record_usage',
  `with added as (
     insert into usage select * from json_populate_recordset(null::usage, $1::json)
     on conflict (attempt_id) do nothing
     returning account_id, day, model_amount, carrier_amount
   )
   insert into usage_months as m (account_id, month, amount, unknown)
   select account_id, date_trunc('month', day)::date, sum(model_amount + coalesce(carrier_amount, 0)),
          count(*) filter (where carrier_amount is null)
   from added group by 1, 2 order by 1, 2
   on conflict (account_id, month) do update set amount = m.amount + excluded.amount,
                                                 unknown = m.unknown + excluded.unknown`,
);

export interface BudgetRow {
  readonly account_id: string;
  readonly monthly_budget: string;
  readonly amount: string;
  readonly told_percent: number;
}

/** Accounts with a budget that used something in a month. Values: month, account id to begin behind, most rows. */
export const listUsedBudgets = statement<BudgetRow>(
  'list_used_budgets',
  `select a.id as account_id, a.monthly_budget::text, m.amount::text, m.told_percent
   from accounts a cross join lateral (
     select amount, told_percent from usage_months where account_id = a.id and month = $1::date limit 1
   ) m
   where a.id > $2 and a.monthly_budget is not null order by a.id limit $3`,
);

/** A row: told now, and by nobody else meanwhile. Values: account id, month, per cent, per cent told before. */
export const markBudgetTold = statement<{ readonly account_id: string }>(
  'mark_budget_told',
  `update usage_months set told_percent = $3
   where account_id = $1 and month = $2::date and told_percent = $4 returning account_id`,
);

/** Values: account id, month. */
export const findUsageMonth = statement<{
  readonly amount: string;
  readonly unknown: number;
}>(
  'find_usage_month',
  'select amount::text, unknown from usage_months where account_id = $1 and month = $2::date',
);

export interface UsageSums {
  readonly attempts: number;
  readonly answered: number;
  readonly answered_ms: number;
  readonly model_periods: number;
  readonly model_amount: string;
  readonly carrier_amount: string;
  /** Attempts whose carrier fee is not in the sum. */
  readonly carrier_unknown: number;
}

const sums = `count(*) as attempts, count(answered_ms) as answered,
  coalesce(sum(answered_ms), 0)::int8 as answered_ms, coalesce(sum(model_periods), 0)::int8 as model_periods,
  coalesce(sum(model_amount), 0)::text as model_amount, coalesce(sum(carrier_amount), 0)::text as carrier_amount,
  count(*) filter (where carrier_amount is null) as carrier_unknown`;
const within = 'account_id = $1 and day between $2::date and $3::date';

/** Values: account id, first day, last day. */
export const sumUsage = statement<UsageSums>('sum_usage', `select ${sums} from usage where ${within}`);

/** Oldest first; days without attempts are left out. Values: as above. */
export const sumUsageByDay = statement<UsageSums & { readonly day: string }>(
  'sum_usage_by_day',
  `select day, ${sums} from usage where ${within} group by day order by day`,
);

/** Calls without a Goal are one row, whose Goal is null. Values: as above. */
export const sumUsageByGoal = statement<
  UsageSums & { readonly goal_id: string | null; readonly title: string | null }
>(
  'sum_usage_by_goal',
  `select u.*, (select g.draft ->> 'title' from goals g where g.id = u.goal_id) as title
   from (select goal_id, ${sums} from usage where ${within} group by goal_id) u
   order by u.model_amount::numeric + u.carrier_amount::numeric desc, u.goal_id`,
);

/** All accounts, by name. Values: first day, last day. */
export const sumUsageByAccount = statement<
  UsageSums & { readonly account_id: string; readonly name: string }
>(
  'sum_usage_by_account',
  `select a.id as account_id, a.name, u.*
   from accounts a cross join lateral (
     select ${sums} from usage where account_id = a.id and day between $1::date and $2::date
   ) u order by a.name`,
);

export interface UsageRow extends UsageRecord {
  /** Of a Goal Run; null for a call without a Goal. */
  readonly public_id: string | null;
}

const columns = `u.attempt_id, u.run_id, u.account_id, u.goal_id, u.call_id, u.mode, u.direction, u.country, u.domestic,
  u.day, u.answered_ms, u.model_periods, u.model_per_period::text, u.model_amount::text, u.carrier_seconds,
  u.carrier_per_minute::text, u.carrier_increments, u.carrier_amount::text,
  case when u.goal_id is not null then (select r.public_id from runs r where r.id = u.run_id limit 1) end as public_id`;

/** Newest first. Values: account id, first day, last day, attempt id to go on behind (null: none), most rows. */
export const listUsage = statement<UsageRow>(
  'list_usage',
  `select ${columns} from usage u
   where u.account_id = $1 and u.day between $2::date and $3::date
     and (u.day, u.attempt_id)
         < (coalesce((select b.day from usage b where b.attempt_id = $4), 'infinity'::date), coalesce($4, ''))
   order by u.day desc, u.attempt_id desc limit $5`,
);

/** Of the attempts of a run, in their order. Values: run id. */
export const listUsageOfRun = statement<UsageRow>(
  'list_usage_of_run',
  `select ${columns} from attempts a
   cross join lateral (select * from usage where attempt_id = a.id limit 1) u
   where a.run_id = $1 order by a.number`,
);
