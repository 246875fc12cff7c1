/** Calls as they are read for their public faces. Reads only (I7). */
import type { CallStatus, DetailCode, GoalRunErrorCode } from '@trunkcall/contract';
import type { CallKind, RecipientStatus } from './calls.ts';
import { statement } from './database.ts';

type JsonObject = Readonly<Record<string, unknown>>;

export interface CallRow {
  readonly id: string;
  readonly account_id: string;
  readonly kind: CallKind;
  readonly task: string;
  readonly region: string;
  readonly locale: string;
  readonly result_schema: JsonObject | null;
  readonly recipient_result_schema: JsonObject | null;
  readonly metadata: JsonObject;
  readonly webhook_url: string | null;
  /** Of a one-shot call that is on the phone this still says `queued`. */
  readonly status: CallStatus;
  readonly result: JsonObject | null;
  readonly error_code: GoalRunErrorCode | 'no_recipient_reached' | null;
  readonly error_detail_code: DetailCode | null;
  readonly summary: string | null;
  readonly task_completed: boolean | null;
  readonly confidence: number | null;
  /** Set exactly when nothing about the call will change any more. */
  readonly evidence: readonly string[] | null;
  readonly cancel_requested_at: Date | null;
  readonly created_at: Date;
  readonly completed_at: Date | null;
}

export const callColumns = `c.id, c.account_id, c.kind, c.task, c.region, c.locale, c.result_schema, c.recipient_result_schema,
  c.metadata, c.webhook_url, c.status, c.result, c.error_code, c.error_detail_code, c.summary, c.task_completed,
  c.confidence, c.evidence, c.cancel_requested_at, c.created_at, c.completed_at`;

/** Values: call id. */
export const findCall = statement<CallRow>('find_call', `select ${callColumns} from calls c where c.id = $1`);

/** All calls, newest first. Values: id to continue behind (null: none), most rows. */
export const listCalls = statement<CallRow>(
  'operator_list_calls',
  `select ${callColumns} from calls c where c.id < coalesce($1, 'call_~') order by c.id desc limit $2`,
);

/** The calls of one account, newest first. Values: as above, and the account id. */
export const listCallsOfAccount = statement<CallRow>(
  'operator_list_calls_of_account',
  `select ${callColumns} from calls c where c.account_id = $3 and c.id < coalesce($1, 'call_~')
   order by c.account_id desc, c.id desc limit $2`,
);

export interface RecipientRow {
  readonly id: string;
  readonly phones: readonly string[];
  readonly region: string;
  readonly locale: string;
  readonly status: RecipientStatus;
  readonly result: JsonObject | null;
  readonly summary: string | null;
}

/** In their order. Values: call id. */
export const listRecipients = statement<RecipientRow>(
  'list_recipients',
  `select id, phones, region, locale, status, result, summary from recipients where call_id = $1 order by position`,
);

export interface CallAttemptRow {
  readonly id: string;
  readonly recipient_id: string;
  readonly phone: string;
  readonly run_status: CallStatus;
  readonly error_detail_code: DetailCode | null;
  readonly state: 'dialing' | 'ringing' | 'answered' | 'ended';
  readonly provider_call_id: string | null;
  readonly dial_intent_at: Date;
  readonly answered_at: Date | null;
  readonly ended_at: Date | null;
}

/** The attempts of a call in the order in which they were begun. Values: call id. */
export const listCallAttempts = statement<CallAttemptRow>(
  'list_call_attempts',
  `select t.id, r.recipient_id, r.phone, r.status as run_status, r.error_detail_code, t.state, t.provider_call_id,
          t.dial_intent_at, t.answered_at, t.ended_at
   from runs r cross join lateral (select * from attempts where run_id = r.id order by number) t
   where r.call_id = $1 order by r.id`,
);

export interface CallTurnRow {
  readonly attempt_id: string;
  readonly speaker: 'bot' | 'user' | 'unknown';
  readonly text: string;
  readonly offset_ms: number;
}

/** What was said in a call. Values: call id. */
export const listCallTurns = statement<CallTurnRow>(
  'list_call_turns',
  `select t.attempt_id, t.speaker, t.text, t.offset_ms
   from runs r cross join lateral (
     select attempt_id, index, speaker, text, offset_ms from turns where attempt_id = r.attempt_id order by index
   ) t
   where r.call_id = $1 order by r.id, t.index`,
);
