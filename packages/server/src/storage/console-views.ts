/** What the console shows beyond the operator API. Reads only (I7). */
import type { GoalFile, GoalRunErrorCode, GoalRunStatus } from '@trunkcall/contract';
import { statement } from './database.ts';
import { operatorRunColumns, type OperatorRunRow } from './run-views.ts';

export interface ConsoleRunRow extends OperatorRunRow {
  readonly title: string;
}

const columns = `${operatorRunColumns},
  (select s.content ->> 'title' from run_specs s where s.id = r.run_spec_id limit 1) as title`;

/** Ids begin with their time, so a time is the beginning of an id; `~` stands behind every digit of one. */
const filters = `r.account_id = $1 and r.goal_id is not null
     and r.public_id < coalesce($2, 'grun_~') and r.public_id >= coalesce($3, 'grun_')
     and ($4::text is null or r.status = $4) and ($5::text is null or r.error_code = $5)
     and ($6::text is null or right(r.phone, length($6)) = $6) and ($8::text is null or r.direction = $8)
   order by r.public_id desc limit $7`;

/**
 * Goal Runs of an account, newest first. A filter that is rare among the newest costs a walk back to its runs.
 * Values: account id, public id to begin behind (null: from the newest), least public id (null: to the oldest), status,
 * error code, last digits of the number (null: any), most rows, direction (null: any).
 */
export const listAccountRuns = statement<ConsoleRunRow>(
  'console_list_runs',
  `select ${columns} from runs r where ${filters}`,
);

/** The same for one Goal, along its own index. Values: as above, and the goal id. */
export const listAccountRunsOfGoal = statement<ConsoleRunRow>(
  'console_list_runs_of_goal',
  `select ${columns} from runs r where r.goal_id = $9 and ${filters}`,
);

/** The account of a Goal Run, and what was pinned for it. Values: public id. */
export const findRunContent = statement<{
  readonly id: string;
  readonly account_id: string;
  readonly content: GoalFile;
}>(
  'console_find_run_content',
  `select r.id, r.account_id, s.content from runs r join run_specs s on s.id = r.run_spec_id
   where r.public_id = $1 and r.goal_id is not null`,
);

/** How a run's call stands. Values: run id. */
export const findCallNow = statement<{
  readonly over: boolean;
  readonly answered: boolean;
  /** Who leads it; null: nobody yet, or any more. */
  readonly worker: string | null;
}>(
  'console_find_call_now',
  `select r.completed_at is not null or coalesce(a.state = 'ended', false) as over,
          coalesce(a.state = 'answered', false) as answered, j.worker
   from runs r left join attempts a on a.id = r.attempt_id
     left join jobs j on j.queue = 'dial' and j.subject_id = r.id
   where r.id = $1`,
);

/** Values: account id. */
export const readWaiting = statement<{
  readonly waiting: number;
  readonly oldest_seconds: number | null;
}>(
  'console_waiting',
  `select count(*) as waiting, extract(epoch from now() - min(due_at))::float8 as oldest_seconds
   from jobs where queue = 'dial' and account_id = $1 and worker is null and due_at <= now()`,
);

export interface OutcomeRow {
  readonly status: GoalRunStatus;
  readonly error_code: GoalRunErrorCode | null;
  readonly has_result: boolean;
  /** Whole hours since the beginning of the window. */
  readonly hour: number;
  /** Whether the selected attempt was placed and has ended. */
  readonly ended: boolean;
  readonly answered: boolean;
  readonly runs: number;
}

/**
 * The newest runs of an account since a time, those of calls without a Goal among them, at most so many; an attempt's row
 * is read for each.
 */
const newest = `select r.id, r.status, r.error_code, r.result is not null as has_result, r.created_at, r.attempt_id,
     r.call_id, r.recipient_id
   from runs r where r.id >= $2 and r.account_id = $1 order by r.id desc limit $3`;

/** Values: account id, least run id, most runs, beginning of the window. */
export const readOutcomes = statement<OutcomeRow>(
  'console_outcomes',
  `select n.status, n.error_code,
          n.has_result
            or exists (select from calls where id = n.call_id and result is not null)
            or exists (select from recipients where id = n.recipient_id and result is not null) as has_result,
          floor(extract(epoch from n.created_at - $4::timestamptz) / 3600)::int as hour,
          a.ended_at is not null as ended, a.answered_at is not null as answered, count(*) as runs
   from (${newest}) n
   left join lateral (select ended_at, answered_at from attempts where id = n.attempt_id limit 1) a on true
   group by 1, 2, 3, 4, 5, 6`,
);

/** Null when there is nothing to measure. */
export interface QuantilesRow {
  readonly p50: number | null;
  readonly p95: number | null;
}

/** From the answer to the agent's first turn, seconds. Values: account id, least run id, most runs. */
export const readFirstWords = statement<QuantilesRow>(
  'console_first_words',
  `select percentile_cont(0.5) within group (order by t.offset_ms) / 1000 as p50,
          percentile_cont(0.95) within group (order by t.offset_ms) / 1000 as p95
   from (${newest}) n
   cross join lateral (
     select offset_ms from turns where attempt_id = n.attempt_id and speaker = 'bot' order by index limit 1
   ) t`,
);

/**
 * How long callees waited for our answers, seconds. Of each run the first turns count, so that one endless call
 * neither costs much nor decides. Values: account id, least run id, most runs, most turns of a run.
 */
export const readAnswerWaits = statement<QuantilesRow>(
  'console_answer_waits',
  `select percentile_cont(0.5) within group (order by t.wait_ms) / 1000 as p50,
          percentile_cont(0.95) within group (order by t.wait_ms) / 1000 as p95
   from (${newest}) n
   cross join lateral (
     select (latency ->> 'total_ms')::float8 as wait_ms from turns
     where attempt_id = n.attempt_id and index < $4 and latency is not null
   ) t`,
);

export interface MovingRow {
  readonly id: string;
  readonly account_id: string;
  /** Changes whenever something that is shown about it does. */
  readonly state: string;
}

/** Runs that somebody works on now, and the newest ones, at most so many of each. Values: most rows. */
export const listMovingRuns = statement<MovingRow>(
  'console_moving',
  `select r.public_id as id, r.account_id,
          concat_ws('.', r.status, r.error_code, r.result is not null,
            (select max(seq) from events e where e.trace_id = r.id),
            (select count(*) from attempts a join turns t on t.attempt_id = a.id where a.run_id = r.id)) as state
   from (
     (select subject_id as id from jobs where queue = 'dial' and leased_until > '-infinity' and worker is not null limit $1)
     union
     (select subject_id from jobs where queue = 'extract' and leased_until > '-infinity' and worker is not null limit $1)
     union
     (select id from runs order by id desc limit 20)
   ) m cross join lateral (select * from runs where id = m.id and goal_id is not null limit 1) r`,
);

/**
 * The same for calls without a Goal. What happens to their runs is in their traces, whose length is in their rows.
 * Values: most rows.
 */
export const listMovingCalls = statement<MovingRow>(
  'console_moving_calls',
  `select c.id, c.account_id, concat_ws('.', c.status, c.event_seq, c.evidence is not null) as state
   from (
     (select r.call_id as id
      from (select subject_id from jobs
            where queue = 'dial' and leased_until > '-infinity' and worker is not null limit $1) j
      cross join lateral (select call_id from runs where id = j.subject_id and call_id is not null limit 1) r)
     union
     (select subject_id from jobs where queue = 'conclude' and leased_until > '-infinity' and worker is not null limit $1)
     union
     (select id from calls order by id desc limit 20)
   ) m cross join lateral (select * from calls where id = m.id limit 1) c`,
);

/** The same for webhook deliveries. Values: most rows. */
export const listMovingDeliveries = statement<MovingRow>(
  'console_moving_deliveries',
  `select d.id, e.account_id, concat_ws('.', d.state, d.fence) as state
   from (
     (select id from webhook_deliveries
      where state = 'sending' and leased_until > '-infinity' order by leased_until limit $1)
     union
     (select id from webhook_deliveries order by id desc limit 20)
   ) m
   cross join lateral (select id, event_id, state, fence from webhook_deliveries where id = m.id limit 1) d
   cross join lateral (select account_id from webhook_events where id = d.event_id limit 1) e`,
);
