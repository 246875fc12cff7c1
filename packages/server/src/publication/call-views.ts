/** Calls as API clients and webhooks show them. */
import {
  callFailures,
  callOutcomeOf,
  detailCodes,
  goalRunErrors,
  type AttemptStatus,
  type CallAttempt,
  type CallTask,
  type CompletionConfidence,
  type OneShotCall,
  type TranscriptTurn,
} from '@trunkcall/contract';
import {
  listCallAttempts,
  listCallTurns,
  listRecipients,
  type CallAttemptRow,
  type CallRow,
  type CallTurnRow,
  type RecipientRow,
} from '../storage/call-views.ts';
import type { Queryable } from '../storage/database.ts';

/**
 * Renders a call with everything that belongs to it. The call was read first: when it says that it is over, all that
 * is read now is final.
 */
export async function renderCall(db: Queryable, call: CallRow): Promise<CallTask | OneShotCall> {
  const recipients = await db.query(listRecipients, [call.id]);
  const attempts = await db.query(listCallAttempts, [call.id]);
  const turns = await db.query(listCallTurns, [call.id]);
  return call.kind === 'task'
    ? callTaskView(call, recipients, attempts, turns)
    : oneShotView(call, recipients, attempts, turns);
}

export function callTaskView(
  call: CallRow,
  recipients: readonly RecipientRow[],
  attempts: readonly CallAttemptRow[],
  turns: readonly CallTurnRow[],
): CallTask {
  const failure = call.status === 'failed' ? failureOf(call) : null;
  return {
    id: call.id,
    object: 'call_task',
    status: call.status,
    task: call.task,
    recipients: recipients.map(({ id, phones, locale, region, status, result, summary }) => ({
      id,
      phones: [...phones],
      locale,
      region,
      status,
      structured_result: result,
      summary,
      attempts: attempts
        .filter((attempt) => attempt.recipient_id === id)
        .map((attempt) => attemptView(attempt, turns)),
    })),
    structured_result: call.result,
    summary: call.summary,
    task_completed: call.task_completed,
    completion_confidence: confidenceOf(call.confidence),
    evidence: [...(call.evidence ?? [])],
    metadata: call.metadata,
    failure_code: failure,
    failure_message: failure === null ? null : callFailures[failure],
    created_at: call.created_at.toISOString(),
    completed_at: call.completed_at?.toISOString() ?? null,
  };
}

function failureOf({ error_code: code }: CallRow): CallTask['failure_code'] {
  return code !== null && code in callFailures ? (code as keyof typeof callFailures) : 'call_failed';
}

function attemptView(attempt: CallAttemptRow, turns: readonly CallTurnRow[]): CallAttempt {
  const failed = attempt.run_status === 'failed' ? attempt.error_detail_code : null;
  return {
    id: attempt.id,
    phone: attempt.phone,
    status: attemptStatus(attempt),
    started_at: attempt.dial_intent_at.toISOString(),
    completed_at: attempt.ended_at?.toISOString() ?? null,
    summary: null,
    transcript_turns: turns
      .filter(({ attempt_id: id }) => id === attempt.id)
      .map((turn) => turnView(turn, attempt)),
    provider_call_id: attempt.provider_call_id,
    failure_code: failed,
    failure_message: failed === null ? null : detailCodes[failed],
  };
}

function attemptStatus({ state, run_status: status }: CallAttemptRow): AttemptStatus {
  if (state === 'answered') return 'in_progress';
  if (state !== 'ended') return 'dialing';
  // An attempt and its run end in one commit.
  return status === 'completed' || status === 'canceled' ? status : 'failed';
}

/** Turns are kept by the leg's clock, which begins with the answer; here they count from the attempt's beginning. */
function turnView(
  { speaker, text, offset_ms: offset }: CallTurnRow,
  attempt: CallAttemptRow,
): TranscriptTurn {
  const { dial_intent_at: began, answered_at: answered } = attempt;
  if (answered === null) return { offset_seconds: null, speaker, text };
  const sinceBeginning = answered.getTime() - began.getTime() + offset;
  return { offset_seconds: Math.max(0, Math.floor(sinceBeginning / 1_000)), speaker, text };
}

const highScore = 0.8;
const mediumScore = 0.5;

function confidenceOf(score: number | null): CompletionConfidence | null {
  if (score === null) return null;
  return { score, label: score >= highScore ? 'high' : score >= mediumScore ? 'medium' : 'low' };
}

export function oneShotView(
  call: CallRow,
  [recipient]: readonly RecipientRow[],
  attempts: readonly CallAttemptRow[],
  turns: readonly CallTurnRow[],
): OneShotCall {
  const code = call.error_code === 'no_recipient_reached' ? 'call_failed' : call.error_code;
  const dialled = attempts.at(-1);
  return {
    id: call.id,
    object: 'call',
    call_id: call.id,
    status: oneShotStatus(call, dialled !== undefined),
    call_outcome: callOutcomeOf(call.status, code, call.error_detail_code),
    result_status: resultStatus(call),
    task: call.task,
    phone: recipient?.phones[0] ?? '',
    region: call.region,
    locale: call.locale,
    transcript: dialled === undefined ? [] : turns.map((turn) => turnView(turn, dialled)),
    result: call.result,
    error: code === null ? null : { code, message: goalRunErrors[code], detail_code: call.error_detail_code },
    metadata: call.metadata,
    created_at: call.created_at.toISOString(),
    completed_at: call.completed_at?.toISOString() ?? null,
  };
}

/** A one-shot call is `queued` until it is dialled; that fact is the attempt's. */
const oneShotStatus = ({ status }: CallRow, dialled: boolean): OneShotCall['status'] =>
  status === 'queued' && dialled ? 'in_progress' : status;

function resultStatus({ status, result, evidence }: CallRow): OneShotCall['result_status'] {
  if (status === 'failed' || status === 'canceled') return 'not_applicable';
  if (evidence === null) return 'pending';
  return result === null ? 'unavailable' : 'available';
}
