import {
  callFailureOf,
  type CallFailureCode,
  type CallStatus,
  type GoalRunErrorCode,
} from '@trunkcall/contract';
import type { CallRunState, RecipientState } from '../storage/calls.ts';

/** How a call task ends once all its recipients are settled. */
export interface TaskEnd {
  readonly status: Extract<CallStatus, 'completed' | 'failed' | 'canceled'>;
  readonly failure: CallFailureCode | null;
}

/**
 * Decides it: stopped is stopped; one person reached is enough for `completed`; else the failure that all recipients
 * have in common, as their last runs tell it.
 */
export function taskEnd(
  canceled: boolean,
  recipients: readonly RecipientState[],
  runs: readonly CallRunState[],
): TaskEnd {
  if (canceled) return { status: 'canceled', failure: null };
  if (recipients.some(({ status }) => status === 'completed')) return { status: 'completed', failure: null };
  const failures = new Set(
    recipients.flatMap(({ id }) => {
      const last = runs.findLast((run) => run.recipient_id === id);
      const code = last?.error_code ?? null;
      return code === null ? [] : [callFailureOf(code as GoalRunErrorCode)];
    }),
  );
  const [only, second] = failures;
  return {
    status: 'failed',
    failure: second === undefined ? (only ?? 'call_failed') : 'no_recipient_reached',
  };
}
