import { detailCodes, goalRunErrors } from '@trunkcall/contract';
import { expect, it } from 'vitest';
import { outcomes, settlements, type Outcome } from '../../../src/dial/outcome.ts';

/** The contract's side of the table: status, error code, detail code. */
const table: Record<Outcome, readonly [string, string | null, string | null]> = {
  conversation: ['completed', null, null],
  transferred: ['completed', null, null],
  message_left: ['completed', null, null],
  call_limit: ['failed', 'timed_out', 'call_limit'],
  machine: ['failed', 'no_answer', 'voicemail'],
  ring_timeout: ['failed', 'no_answer', 'ring_timeout'],
  unreachable: ['failed', 'no_answer', 'unreachable'],
  busy: ['failed', 'no_answer', 'busy'],
  declined: ['failed', 'declined', 'declined'],
  invalid_number: ['failed', 'call_failed', 'invalid_number'],
  carrier_error: ['failed', 'call_failed', 'carrier_error'],
  media_failed: ['failed', 'call_failed', 'media_failed'],
  agent_failed: ['failed', 'call_failed', 'agent_failed'],
  worker_lost: ['failed', 'call_failed', 'worker_lost'],
  caller_gave_up: ['failed', 'no_answer', 'caller_gave_up'],
  outside_hours: ['completed', 'result_unavailable', 'outside_hours'],
  do_not_call: ['failed', 'call_failed', 'do_not_call'],
  not_allowed: ['failed', 'call_failed', 'not_allowed'],
  daily_limit: ['failed', 'call_failed', 'daily_limit'],
  waited_too_long: ['failed', 'call_failed', 'waited_too_long'],
  operator: ['canceled', 'canceled', 'operator'],
};

it('settles every outcome as the contract says', () => {
  for (const outcome of outcomes) {
    const { status, errorCode, detailCode } = settlements[outcome];
    expect([status, errorCode, detailCode]).toEqual(table[outcome]);
  }
});

it('uses only codes of the catalogue, and an error exactly when the call did not complete, or asked for nothing', () => {
  for (const outcome of outcomes) {
    const { status, errorCode, detailCode, event } = settlements[outcome];
    expect(errorCode === null).toBe(status === 'completed' && outcome !== 'outside_hours');
    expect(event).toBe(`call.${status}`);
    expect(errorCode ?? 'call_failed').toBeOneOf(Object.keys(goalRunErrors));
    expect(detailCode ?? 'busy').toBeOneOf(Object.keys(detailCodes));
  }
});
