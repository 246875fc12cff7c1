/** How a run's telephone execution can end, and what each end means for the run. (DESIGN: "Outcome → Goal Run".) */
import type { DetailCode, GoalRunErrorCode, GoalRunStatus } from '@trunkcall/contract';

export const outcomes = [
  // A conversation was held.
  'conversation',
  'transferred',
  'message_left',
  'call_limit',
  'machine',
  // The callee's side ended it before that.
  'ring_timeout',
  'unreachable',
  'busy',
  'declined',
  'invalid_number',
  // The carrier, or we, failed.
  'carrier_error',
  'media_failed',
  'agent_failed',
  'worker_lost',
  // Of inbound calls: nobody spoke, or nothing was asked.
  'caller_gave_up',
  'outside_hours',
  // It was not to be.
  'do_not_call',
  'not_allowed',
  'daily_limit',
  'waited_too_long',
  'operator',
] as const;
export type Outcome = (typeof outcomes)[number];

export interface Settlement {
  readonly status: Exclude<GoalRunStatus, 'queued' | 'in_progress'>;
  readonly errorCode: GoalRunErrorCode | null;
  readonly detailCode: DetailCode | null;
  /** The type of the event that reports it. */
  readonly event: 'call.completed' | 'call.failed' | 'call.canceled';
}

const completed: Settlement = {
  status: 'completed',
  errorCode: null,
  detailCode: null,
  event: 'call.completed',
};
const failed = (errorCode: GoalRunErrorCode, detailCode: DetailCode): Settlement => ({
  status: 'failed',
  errorCode,
  detailCode,
  event: 'call.failed',
});

/** The whole table. A run without an error code goes on to result processing. */
export const settlements: Readonly<Record<Outcome, Settlement>> = {
  conversation: completed,
  transferred: completed,
  message_left: completed,
  call_limit: failed('timed_out', 'call_limit'),
  machine: failed('no_answer', 'voicemail'),
  ring_timeout: failed('no_answer', 'ring_timeout'),
  unreachable: failed('no_answer', 'unreachable'),
  busy: failed('no_answer', 'busy'),
  declined: failed('declined', 'declined'),
  invalid_number: failed('call_failed', 'invalid_number'),
  carrier_error: failed('call_failed', 'carrier_error'),
  media_failed: failed('call_failed', 'media_failed'),
  agent_failed: failed('call_failed', 'agent_failed'),
  worker_lost: failed('call_failed', 'worker_lost'),
  caller_gave_up: failed('no_answer', 'caller_gave_up'),
  outside_hours: { ...completed, errorCode: 'result_unavailable', detailCode: 'outside_hours' },
  do_not_call: failed('call_failed', 'do_not_call'),
  not_allowed: failed('call_failed', 'not_allowed'),
  daily_limit: failed('call_failed', 'daily_limit'),
  waited_too_long: failed('call_failed', 'waited_too_long'),
  operator: { status: 'canceled', errorCode: 'canceled', detailCode: 'operator', event: 'call.canceled' },
};

/** What is kept of an end beside its outcome. */
export interface EndFacts {
  readonly outcome: Outcome;
  readonly endedBy: 'callee' | 'us' | 'carrier' | null;
  readonly sipStatus: number | null;
  readonly q850: number | null;
  readonly note: string | null;
}

/** An end of our own making. */
export const ownEnd = (outcome: Outcome, note: string | null = null): EndFacts => ({
  outcome,
  endedBy: 'us',
  sipStatus: null,
  q850: null,
  note,
});
