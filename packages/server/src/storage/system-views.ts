/** What the operator’s pages about the deployment ask the database. Reads only (I7). */
import type { MovingRow } from './console-views.ts';
import { statement } from './database.ts';
import { silentAfterMs } from './workers.ts';

export const readDatabaseSize = statement<{ readonly bytes: number }>(
  'system_database_size',
  'select pg_database_size(current_database()) as bytes',
);

/** Lines of trunks that calls hold now. Values: trunks. */
export const readLinesInUse = statement<{ readonly trunk: string; readonly lines: number }>(
  'system_lines_in_use',
  `select trunk, count(*) as lines from trunk_lines
   where trunk = any ($1::text[]) and held_until > now() group by trunk`,
);

/** What was called and spent today (UTC). Values: scopes. */
export const readUsageToday = statement<{
  readonly scope: string;
  readonly calls: number;
  readonly spend: number;
}>(
  'system_usage_today',
  `select scope, calls, spend from daily_usage
   where day = (now() at time zone 'utc')::date and scope = any ($1::text[])`,
);

export const readWebhookBacklog = statement<{
  readonly due: number;
  readonly waiting: number;
  readonly oldest_due_seconds: number | null;
}>(
  'system_webhook_backlog',
  `select (select count(*) from webhook_deliveries where state = 'ready')
          + (select count(*) from webhook_deliveries where state = 'sending') as due,
          (select count(*) from webhook_deliveries where state = 'waiting') as waiting,
          (select extract(epoch from now() - min(due_at))::float8 from webhook_deliveries
           where state = 'ready') as oldest_due_seconds`,
);

/** Endpoints that disabled themselves. Values: account id (null: of all), most rows. */
export const listDisabledEndpoints = statement<{
  readonly id: string;
  readonly account_id: string;
  readonly disabled_reason: 'gone' | 'failing';
}>(
  'system_disabled_endpoints',
  `select id, account_id, disabled_reason from webhook_endpoints
   where disabled_at is not null and disabled_reason <> 'operator' and ($1::text is null or account_id = $1)
   order by disabled_at desc limit $2`,
);

/** Due calls of an account (null: of all) that nobody has taken. Values: account id or null. */
export const readLateness = statement<{ readonly seconds: number | null }>(
  'system_lateness',
  `select extract(epoch from now() - min(due_at))::float8 as seconds from jobs
   where queue = 'dial' and worker is null and due_at <= now() and ($1::text is null or account_id = $1)`,
);

/** What moves of processes and test calls, as one row of no account. Values: most rows of ended test calls. */
export const listMovingSystem = statement<MovingRow>(
  'console_moving_system',
  `select 'system' as id, '' as account_id, concat_ws('|',
     (select string_agg(concat_ws('.', id, state, md5(steps::text), md5(media::text)), ',' order by id) from (
        select * from test_calls where state <> 'ended'
        union all (select * from test_calls where state = 'ended' order by id desc limit least($1::int, 5))) t),
     (select string_agg(concat_ws('.', id, last_seen_at > now() - ${silentAfterMs} * interval '1 millisecond', draining,
        drain_requested_at, live_calls), ',' order by id) from workers)) as state`,
);
