/**
 * The public shapes of calls: the deprecated call tasks (`/v1/calls`) and one-shot calls (`/v2/calls`), with their
 * traces and the webhooks that report them. (Contract: "Call task (legacy)", "One-shot Calls", "Events".)
 */
import { Type, type Static } from 'typebox';
import { enumeration } from './enumeration.ts';
import type { DetailCode, GoalRunErrorCode } from './errors.ts';
import {
  jsonObject,
  listOf,
  nullable,
  phonePattern,
  timestamp,
  GoalRunError,
  type GoalRun,
} from './schemas.ts';

const closed = { additionalProperties: false } as const;

export const callStatuses = ['queued', 'in_progress', 'completed', 'failed', 'canceled'] as const;
export type CallStatus = (typeof callStatuses)[number];

export const recipientStatuses = ['pending', 'in_progress', 'completed', 'failed', 'skipped'] as const;
export const attemptStatuses = [
  'queued',
  'dialing',
  'in_progress',
  'completed',
  'failed',
  'canceled',
] as const;
export type AttemptStatus = (typeof attemptStatuses)[number];

/** Why a call task has failed. */
export const callFailures = {
  no_answer: 'Nobody answered.',
  declined: 'The callee refused the call.',
  call_failed: 'The call could not be placed or carried through.',
  timed_out: 'The call reached its time limit.',
  no_recipient_reached: 'None of the recipients was reached, for different reasons.',
} as const;
export type CallFailureCode = keyof typeof callFailures;

export const TranscriptTurn = Type.Object(
  {
    offset_seconds: nullable(
      Type.Integer({ minimum: 0 }),
      'Whole seconds since the attempt began; null when unknown.',
    ),
    speaker: enumeration(['bot', 'user', 'unknown'], { description: 'Who spoke.' }),
    text: Type.String({ description: 'What was heard.' }),
  },
  closed,
);
export type TranscriptTurn = Static<typeof TranscriptTurn>;

export const CallAttempt = Type.Object(
  {
    id: Type.String({ description: 'Id of the attempt; never usable as `call_id`.' }),
    phone: Type.String({ description: 'The number that was called.' }),
    status: enumeration(attemptStatuses, { description: 'State of this one try.' }),
    started_at: nullable(Type.String({ format: 'date-time' }), 'When it was dialled.'),
    completed_at: nullable(Type.String({ format: 'date-time' }), 'When it ended.'),
    summary: nullable(Type.String(), 'Short outcome of this try.'),
    transcript_turns: Type.Array(TranscriptTurn, {
      description: 'In order; empty when there is no transcript.',
    }),
    provider_call_id: nullable(Type.String(), 'The carrier’s id of this try.'),
    failure_code: nullable(Type.String({ maxLength: 128 }), 'A stable reason in snake_case.'),
    failure_message: nullable(Type.String(), 'The same for people.'),
  },
  closed,
);
export type CallAttempt = Static<typeof CallAttempt>;

export const CallRecipient = Type.Object(
  {
    id: Type.String({ description: 'Recipient id.' }),
    phones: Type.Array(Type.String(), { description: 'Tried in this order until a person answers.' }),
    locale: Type.String({ description: 'As sent, or inferred.' }),
    region: Type.String({ description: 'As sent, or inferred.' }),
    status: enumeration(recipientStatuses, { description: 'State of this recipient.' }),
    structured_result: nullable(
      jsonObject('Data that satisfies `recipient_result_schema`.'),
      'Null when there is none.',
    ),
    summary: nullable(Type.String(), 'Short outcome for this recipient.'),
    attempts: Type.Array(CallAttempt, { description: 'One for each number that was dialled.' }),
  },
  closed,
);

export const CompletionConfidence = Type.Object(
  {
    score: Type.Number({ minimum: 0, maximum: 1 }),
    label: enumeration(['low', 'medium', 'high']),
  },
  { ...closed, description: 'How sure `task_completed` is.' },
);
export type CompletionConfidence = Static<typeof CompletionConfidence>;

const metadata = jsonObject('The caller’s own data, as sent; `{}` when none was.');

export const CallTask = Type.Object(
  {
    id: Type.String({ pattern: '^call_[A-Za-z0-9_-]+', description: 'The `call_id` of all its endpoints.' }),
    object: Type.Literal('call_task', { description: 'Always `call_task`.' }),
    status: enumeration(callStatuses, { description: '`in_progress` includes drawing the results.' }),
    task: Type.String({ description: 'The instruction, as sent.' }),
    recipients: Type.Array(CallRecipient, { description: 'In order.' }),
    structured_result: nullable(
      jsonObject('Data that satisfies `result_schema`.'),
      'Null when there is none.',
    ),
    summary: nullable(Type.String(), 'Short outcome; null while running.'),
    task_completed: nullable(Type.Boolean(), 'Whether the task reached a clear end; null while running.'),
    completion_confidence: nullable(CompletionConfidence, 'Null while running.'),
    evidence: Type.Array(Type.String(), { description: 'Short quotes that support the outcome.' }),
    metadata,
    failure_code: nullable(enumeration(Object.keys(callFailures) as CallFailureCode[]), 'Set when `failed`.'),
    failure_message: nullable(Type.String(), 'Set when `failed`.'),
    created_at: timestamp('UTC time of durable acceptance.'),
    completed_at: nullable(
      Type.String({ format: 'date-time' }),
      'When the complete result was published; null before.',
    ),
  },
  { ...closed, $id: 'CallTask', description: 'A call request in free text. Deprecated.' },
);
export type CallTask = Static<typeof CallTask>;

export const callOutcomes = ['completed', 'no_answer', 'busy', 'declined'] as const;
export const resultStatuses = ['pending', 'available', 'unavailable', 'not_applicable'] as const;

export const OneShotCall = Type.Object(
  {
    id: Type.String({ pattern: '^call_[A-Za-z0-9_-]+', description: 'The `call_id` of all its endpoints.' }),
    object: Type.Literal('call', { description: 'Always `call`.' }),
    call_id: Type.String({ description: 'The same as `id`.' }),
    status: enumeration(callStatuses, { description: 'State of the telephone execution.' }),
    call_outcome: nullable(enumeration(callOutcomes), 'What became of it on the phone.'),
    result_status: enumeration(resultStatuses, {
      description: 'Poll until it is not `pending`; `not_applicable`: there was no conversation.',
    }),
    task: Type.String({ description: 'The instruction, as sent.' }),
    phone: Type.String({ description: 'The number, as sent.' }),
    region: Type.String({ description: 'As sent, or inferred.' }),
    locale: Type.String({ description: 'As sent, or inferred.' }),
    transcript: Type.Array(TranscriptTurn, { description: 'In order; empty when nothing was said.' }),
    result: nullable(jsonObject('Data that satisfies `result_schema`.'), 'Null when there is none.'),
    error: nullable(GoalRunError, 'Why there is no result; final.'),
    metadata,
    created_at: timestamp('UTC time of durable acceptance.'),
    completed_at: nullable(
      Type.String({ format: 'date-time' }),
      'UTC end of the telephone execution; null before.',
    ),
  },
  { ...closed, $id: 'Call', description: 'One call to one number, with a task in free text.' },
);
export type OneShotCall = Static<typeof OneShotCall>;

/** The kinds of events in the trace of a call, and how each is told. */
export const callEvents = {
  'call.accepted': { level: 'info', message: 'The call was accepted.' },
  'call.in_progress': { level: 'info', message: 'The call began.' },
  'call.attempt_started': { level: 'info', message: 'A number is being dialled.' },
  'call.ringing': { level: 'info', message: 'The phone rings.' },
  'call.connected': { level: 'info', message: 'The call was answered.' },
  'call.speech': { level: 'info', message: 'The agent spoke.' },
  'call.asr': { level: 'info', message: 'The callee spoke.' },
  'call.interrupted': { level: 'info', message: 'Somebody was interrupted.' },
  'call.dtmf': { level: 'info', message: 'Keys were pressed.' },
  'call.transfer_started': { level: 'info', message: 'Somebody else is called for the callee.' },
  'call.transfer_failed': {
    level: 'warning',
    message: 'The callee could not be connected with somebody else.',
  },
  'call.transferred': { level: 'info', message: 'The callee talks to somebody else.' },
  'call.attempt_ended': { level: 'info', message: 'The attempt ended.' },
  'call.ended': { level: 'info', message: 'The telephone execution for a number ended.' },
  'call.result_ready': { level: 'info', message: 'The results were drawn.' },
  'call.completed': { level: 'info', message: 'The call is completed.' },
  'call.failed': { level: 'error', message: 'The call has failed.' },
  'call.canceled': { level: 'warning', message: 'The call was stopped.' },
} as const;
export type CallEventType = keyof typeof callEvents;

export const CallEvent = Type.Object(
  {
    id: Type.String({ description: 'Event id.' }),
    type: enumeration(Object.keys(callEvents) as CallEventType[], { description: 'What happened.' }),
    call_id: Type.String({ description: 'The call of the trace.' }),
    created_at: timestamp('When it was recorded.'),
    level: enumeration(['info', 'warning', 'error'], { description: 'How much it should concern people.' }),
    status: enumeration(callStatuses, { description: 'State of the call with this event.' }),
    message: Type.String({ description: 'For people.' }),
    details: jsonObject('More about it; ids and codes, never spoken words.'),
  },
  { ...closed, $id: 'CallEvent', description: 'An immutable fact in the trace of a call.' },
);
export type CallEvent = Static<typeof CallEvent>;
export const CallEventList = listOf(CallEvent);

/** What an endpoint can ask for. `inbound.completed` reports a Run that an inbound call has made. */
export const webhookTypes = [
  'call.completed',
  'call.failed',
  'call.result_validation_failed',
  'inbound.completed',
] as const;
export type WebhookType = (typeof webhookTypes)[number];

/** The body of a webhook; `data` is what a GET of the call answers at that moment. */
export interface WebhookBody {
  readonly id: string;
  readonly type: Exclude<WebhookType, 'inbound.completed'>;
  readonly created_at: string;
  readonly data: CallTask | OneShotCall;
}

/** The body of the webhook that reports a Run of an inbound call: as a GET answers it, and who called which number. */
export interface InboundWebhookBody {
  readonly id: string;
  readonly type: 'inbound.completed';
  readonly created_at: string;
  readonly data: GoalRun & {
    readonly direction: 'inbound';
    /** The number of ours that was called. */
    readonly to: string | null;
    /** The caller's number; null for one who does not show it. */
    readonly from: string | null;
  };
}

export const CallTaskRequest = Type.Object(
  {
    task: Type.String({ minLength: 1, maxLength: 32_000, description: 'What to do, in plain words.' }),
    recipients: Type.Optional(
      Type.Array(
        Type.Object(
          {
            phones: Type.Array(Type.String({ pattern: phonePattern }), { minItems: 1, maxItems: 5 }),
            region: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$' })),
            locale: Type.Optional(Type.String()),
          },
          closed,
        ),
        { minItems: 1, maxItems: 100, description: 'Whom to call; read from `task` when omitted.' },
      ),
    ),
    result_schema: Type.Optional(jsonObject('Schema of the result of the whole task.')),
    recipient_result_schema: Type.Optional(jsonObject('Schema of the result for each recipient.')),
    metadata: Type.Optional(jsonObject('Given back as it is; at most 16 KiB.')),
    webhook_url: Type.Optional(
      Type.String({ maxLength: 2_048, description: 'HTTPS URL for the terminal event.' }),
    ),
  },
  { ...closed, $id: 'CallTaskRequest', description: 'What a call task takes; null means omitted.' },
);

export const OneShotCallRequest = Type.Object(
  {
    task: Type.String({ minLength: 1, maxLength: 32_000, description: 'What to do, in plain words.' }),
    phone: Type.String({ pattern: phonePattern, description: 'Canonical E.164 number to call.' }),
    result_schema: jsonObject('A closed object of at most 32 scalar properties.'),
    region: Type.Optional(
      Type.String({ pattern: '^[A-Z]{2}$', description: 'Inferred from `phone` when omitted.' }),
    ),
    locale: Type.Optional(Type.String({ description: 'BCP 47; inferred from the region when omitted.' })),
    metadata: Type.Optional(jsonObject('Given back as it is; at most 16 KiB.')),
    webhook_url: Type.Optional(
      Type.String({ maxLength: 2_048, description: 'HTTPS URL for the terminal event.' }),
    ),
  },
  { ...closed, $id: 'CallRequest', description: 'What a one-shot call takes; nothing else is accepted.' },
);

/** What a failed run means for the call task that it belongs to. */
export function callFailureOf(code: GoalRunErrorCode): CallFailureCode {
  return code === 'no_answer' || code === 'declined' || code === 'timed_out' ? code : 'call_failed';
}

/** What a one-shot call's end means on the phone; null when it says nothing about the callee. */
export function callOutcomeOf(
  status: CallStatus,
  code: GoalRunErrorCode | null,
  detail: DetailCode | null,
): OneShotCall['call_outcome'] {
  if (status === 'completed') return 'completed';
  if (detail === 'busy') return 'busy';
  return code === 'no_answer' || code === 'declined' ? code : null;
}
