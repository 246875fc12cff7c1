/** What result processing reads and writes. */
import type { ResultSchema } from '@trunkcall/contract';
import type { Note } from '../agents/agent.ts';
import { statement } from './database.ts';

export interface ConversationRow {
  readonly result_schema: ResultSchema;
  /** IANA time zone; null when none is pinned. */
  readonly timezone: string | null;
  readonly answered_at: Date | null;
  readonly inbound: boolean;
}

/** The pinned schema of a run, and when and where its conversation was held. Values: run id. */
export const findResultSchema = statement<ConversationRow>(
  'find_result_schema',
  `select s.content -> 'result_schema' as result_schema, s.content -> 'calling_window' ->> 'timezone' as timezone,
          a.answered_at, r.direction = 'inbound' as inbound
   from runs r join run_specs s on s.id = r.run_spec_id left join attempts a on a.id = r.attempt_id where r.id = $1`,
);

export interface TurnRow {
  readonly speaker: 'bot' | 'user' | 'unknown';
  readonly text: string;
  readonly offset_ms: number;
  readonly interrupted: boolean;
  readonly notes: readonly Note[];
}

/** The conversation of a run's selected attempt, in order. Values: run id. */
export const findTurns = statement<TurnRow>(
  'find_turns',
  `select t.speaker, t.text, t.offset_ms, t.interrupted,
          coalesce(t.notes, '[]') as notes
   from runs r join turns t on t.attempt_id = r.attempt_id where r.id = $1 order by t.index`,
);

/**
 * Publishes the result or the error of a completed run, and ends the job. A row: it is published, now and for
 * good. Values: run id, fence, result (JSON text or null), evidence (JSON text or null), error code, error
 * detail, event id.
 */
export const publishResult = statement<{ readonly run_id: string; readonly inbound: boolean }>(
  'publish_result',
  `with held as (
     select subject_id from jobs
     where queue = 'extract' and subject_id = $1 and fence = $2 and worker is not null for no key update
   ), done as (
     delete from jobs j where j.queue = 'extract' and j.subject_id = (select subject_id from held) returning j.subject_id
   ), run as (
     update runs r set result = $3::json, evidence = $4::json, error_code = $5, error_detail_code = $6
     from done d
     where r.id = d.subject_id and r.status = 'completed' and r.result is null and r.error_code is null
     returning r.id as run_id, r.direction = 'inbound' as inbound
   ), event as (
     insert into events (trace_id, seq, id, type, details)
     select r.run_id, coalesce((select max(seq) from events e where e.trace_id = r.run_id), 0) + 1, $7,
            'call.result_ready', json_build_object('error_code', $5::text)
     from run r
   )
   select run_id, inbound from run`,
);

export interface CallTurnRow extends TurnRow {
  readonly recipient_id: string;
  readonly answered_at: Date | null;
}

/** What was said with each recipient of a call, in order. Values: call id. */
export const findCallConversations = statement<CallTurnRow>(
  'find_call_conversations',
  `select r.recipient_id, a.answered_at, t.speaker, t.text, t.offset_ms, t.interrupted,
          coalesce(t.notes, '[]') as notes
   from runs r join attempts a on a.id = r.attempt_id
     cross join lateral (select * from turns where attempt_id = a.id order by index) t
   where r.call_id = $1 order by r.id, t.index`,
);

/** How long ago somebody was last on the phone for it, milliseconds. Values: run id or call id. */
export const findAgeOfEnd = statement<{ readonly age_ms: number | null }>(
  'find_age_of_end',
  `select (extract(epoch from now() - max(completed_at)) * 1000)::float8 as age_ms
   from (select completed_at from runs where id = $1 union all select completed_at from runs where call_id = $1) r`,
);
