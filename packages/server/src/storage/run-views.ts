/** Goal Runs as the operator sees them: with attempts, transcript, events and evidence. Reads only (I7). */
import type {
  AnsweredBy,
  Direction,
  MediaQuality,
  Scalar,
  TurnLatency,
  Variables,
} from '@trunkcall/contract';
import type { Note } from '../agents/agent.ts';
import { statement } from './database.ts';
import { runColumns, type RunRow } from './runs.ts';

export interface OperatorRunRow extends RunRow {
  readonly account_id: string;
  readonly direction: Direction;
  /** The other party's; null for a caller who does not show it. */
  readonly phone: string | null;
  /** The number of ours that was called. */
  readonly number_id: string | null;
  readonly cancel_requested_at: Date | null;
}

export const operatorRunColumns = `${runColumns}, r.account_id, r.direction, r.phone, r.number_id, r.cancel_requested_at`;

/** `~` stands behind every digit of an id: without a cursor the page begins with the newest. */
const newestFirst = `($1::text is null or r.account_id = $1) and ($2::text is null or r.status = $2)
     and r.public_id < coalesce($3, 'grun_~') and ($5::text is null or r.direction = $5)
   order by r.public_id desc limit $4`;

/**
 * All Goal Runs, newest first. An account or a status that is rare among the newest costs a walk back to its runs.
 * Values: account id, status (null: any), public id to continue behind (null: none), most rows, direction (null: any).
 */
export const listRuns = statement<OperatorRunRow>(
  'operator_list_runs',
  `select ${operatorRunColumns} from runs r where r.goal_id is not null and ${newestFirst}`,
);

/**
 * The runs of one Goal, newest first; a statement of its own, so that no plan can miss its index.
 * Values: as above, and the goal id.
 */
export const listRunsOfGoal = statement<OperatorRunRow>(
  'operator_list_runs_of_goal',
  `select ${operatorRunColumns} from runs r where r.goal_id = $6 and ${newestFirst}`,
);

export interface RunDetailRow extends OperatorRunRow {
  readonly variables: Variables;
  /** Per field: value, turns, quote. */
  readonly evidence: Readonly<Record<string, EvidenceRow>> | null;
}

export interface EvidenceRow {
  readonly value: Scalar;
  readonly turns: readonly number[];
  readonly quote: string;
}

/** Values: public id or run id. */
export const findRunDetail = statement<RunDetailRow>(
  'operator_find_run_detail',
  `select ${operatorRunColumns}, r.variables, r.evidence from runs r
   where r.id = (select id from runs where public_id = $1 union all select id from runs where id = $1 limit 1)
     and r.goal_id is not null`,
);

export interface AttemptRow {
  readonly id: string;
  readonly number: number;
  readonly carrier: string;
  readonly state: 'dialing' | 'ringing' | 'answered' | 'ended';
  readonly outcome: string | null;
  readonly answered_by: AnsweredBy | null;
  readonly ended_by: string | null;
  readonly provider_call_id: string | null;
  readonly sip_status: number | null;
  readonly q850: number | null;
  readonly note: string | null;
  readonly media: MediaQuality | null;
  readonly dial_intent_at: Date;
  readonly answered_at: Date | null;
  readonly ended_at: Date | null;
}

/** Values: run id. */
export const listAttempts = statement<AttemptRow>(
  'operator_list_attempts',
  `select id, number, carrier, state, outcome, answered_by, ended_by, provider_call_id, sip_status, q850, note, media,
          dial_intent_at, answered_at, ended_at
   from attempts where run_id = $1 order by number`,
);

export interface TurnRow {
  readonly attempt: number;
  readonly index: number;
  readonly speaker: 'bot' | 'user' | 'unknown';
  readonly text: string;
  readonly offset_ms: number;
  readonly interrupted: boolean;
  readonly notes: readonly Note[];
  readonly latency: TurnLatency | null;
}

/** Turns behind a place in the transcript. Values: run id, attempt number, index. */
export const listTurns = statement<TurnRow>(
  'operator_list_turns',
  `select a.number as attempt, t.index, t.speaker, t.text, t.offset_ms, t.interrupted,
          coalesce(t.notes, '[]') as notes, t.latency
   from attempts a join turns t on t.attempt_id = a.id
   where a.run_id = $1 and (a.number, t.index) > ($2::int, $3::int) order by a.number, t.index`,
);
