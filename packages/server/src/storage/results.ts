/** What result processing reads and writes. */
import type { ResultSchema } from '@trunkcall/contract';
import type { Note } from '../agents/agent.ts';
import { statement } from './database.ts';

/** The pinned schema of a run. Values: run id. */
export const findResultSchema = statement<{ readonly result_schema: ResultSchema }>(
  'find_result_schema',
  `select s.content -> 'result_schema' as result_schema
   from runs r join run_specs s on s.id = r.run_spec_id where r.id = $1`,
);

export interface TurnRow {
  readonly speaker: 'bot' | 'user' | 'unknown';
  readonly text: string;
  readonly offset_ms: number;
  readonly interrupted: boolean;
  readonly note: Note | null;
}

/** The conversation of a run's selected attempt, in order. Values: run id. */
export const findTurns = statement<TurnRow>(
  'find_turns',
  `select t.speaker, t.text, t.offset_ms, t.interrupted, t.note
   from runs r join turns t on t.attempt_id = r.attempt_id where r.id = $1 order by t.index`,
);

/**
 * Publishes the result or the error of a completed run, and ends the job. A row: it is published, now and for
 * good. Values: run id, fence, result (JSON text or null), evidence (JSON text or null), error code, error
 * detail, event id.
 */
export const publishResult = statement<{ readonly run_id: string }>(
  'publish_result',
  `with held as (
     select run_id from jobs
     where queue = 'extract' and run_id = $1 and fence = $2 and worker is not null for no key update
   ), done as (
     delete from jobs j where j.queue = 'extract' and j.run_id = (select run_id from held) returning j.run_id
   ), run as (
     update runs r set result = $3::json, evidence = $4::json, error_code = $5, error_detail_code = $6
     from done d
     where r.id = d.run_id and r.status = 'completed' and r.result is null and r.error_code is null
     returning r.id as run_id
   ), event as (
     insert into events (run_id, seq, id, type, details)
     select r.run_id, coalesce((select max(seq) from events e where e.run_id = r.run_id), 0) + 1, $7,
            'call.result_ready', json_build_object('error_code', $5::text)
     from run r
   )
   select run_id from run`,
);
