import {
  attemptStatuses,
  callStatuses,
  CallTask,
  detailCodes,
  goalRunErrors,
  OneShotCall,
  recipientStatuses,
  type CallStatus,
  type DetailCode,
  type GoalRunErrorCode,
} from '@trunkcall/contract';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { callTaskView, oneShotView } from '../../../src/publication/call-views.ts';
import type { CallAttemptRow, CallRow, CallTurnRow, RecipientRow } from '../../../src/storage/call-views.ts';

const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true } });
const isCallTask = ajv.compile(CallTask);
const isOneShotCall = ajv.compile(OneShotCall);

const began = new Date('2026-03-02T09:30:00.000Z');
const answered = new Date('2026-03-02T09:30:04.600Z');
const ended = new Date('2026-03-02T09:31:00.000Z');
const statusIsOpen = (status: CallStatus) => status === 'queued' || status === 'in_progress';

const callRow = (over: Partial<CallRow>): CallRow => ({
  id: 'call_06bq5m8a1j7w1q0s2v4x6z8bn2',
  account_id: 'acct_1',
  kind: 'task',
  task: 'Ask.',
  region: 'US',
  locale: 'en-US',
  result_schema: null,
  recipient_result_schema: null,
  metadata: {},
  webhook_url: null,
  status: 'in_progress',
  result: null,
  error_code: null,
  error_detail_code: null,
  summary: null,
  task_completed: null,
  confidence: null,
  evidence: null,
  cancel_requested_at: null,
  created_at: began,
  completed_at: null,
  ...over,
});
const recipientRow = (status: RecipientRow['status']): RecipientRow => ({
  id: 'rcp_1',
  phones: ['+12025550100'],
  region: 'US',
  locale: 'en-US',
  status,
  result: null,
  summary: null,
});
const attemptRow = (over: Partial<CallAttemptRow>): CallAttemptRow => ({
  id: 'att_1',
  recipient_id: 'rcp_1',
  phone: '+12025550100',
  run_status: 'in_progress',
  error_detail_code: null,
  state: 'dialing',
  provider_call_id: null,
  dial_intent_at: began,
  answered_at: null,
  ended_at: null,
  ...over,
});
const turn: CallTurnRow = { attempt_id: 'att_1', speaker: 'user', text: 'Yes.', offset_ms: 2_500 };

const errors = [null, ...(Object.keys(goalRunErrors) as GoalRunErrorCode[])];
const details = [null, ...(Object.keys(detailCodes) as DetailCode[])];

describe('the view of a call', () => {
  it('satisfies the contract in every combination of states', () => {
    let views = 0;
    for (const status of callStatuses) {
      for (const recipientStatus of recipientStatuses) {
        for (const error of [...errors, 'no_recipient_reached' as const]) {
          for (const state of ['dialing', 'ringing', 'answered', 'ended'] as const) {
            const call = callRow({
              status,
              error_code: error,
              confidence: 0.5,
              evidence: statusIsOpen(status) ? null : ['Yes.'],
              completed_at: statusIsOpen(status) ? null : ended,
            });
            const attempt = attemptRow({ state, run_status: status, answered_at: answered });
            const task = callTaskView(call, [recipientRow(recipientStatus)], [attempt], [turn]);
            expect({ valid: isCallTask(task), errors: isCallTask.errors }).toMatchObject({ valid: true });
            expect(task.failure_code === null).toBe(status !== 'failed');
            expect(task.failure_message === null).toBe(status !== 'failed');
            const oneShot = oneShotView(
              { ...call, kind: 'one_shot' },
              [recipientRow(recipientStatus)],
              [attempt],
              [turn],
            );
            expect({ valid: isOneShotCall(oneShot), errors: isOneShotCall.errors }).toMatchObject({
              valid: true,
            });
            views += 2;
          }
        }
      }
    }
    expect(views).toBeGreaterThan(1_000);
  });

  it('knows the status of every attempt', () => {
    const seen = new Set(
      callStatuses.flatMap((status) =>
        (['dialing', 'ringing', 'answered', 'ended'] as const).flatMap((state) =>
          details.map((detail) => {
            const attempt = attemptRow({ state, run_status: status, error_detail_code: detail });
            const view = callTaskView(callRow({}), [recipientRow('in_progress')], [attempt], []);
            return view.recipients[0]?.attempts[0]?.status;
          }),
        ),
      ),
    );
    for (const status of seen) expect(attemptStatuses).toContain(status);
  });

  it('counts turns from the beginning of the attempt, in whole seconds', () => {
    const talked = attemptRow({ state: 'answered', answered_at: answered });
    const view = (attempt: CallAttemptRow) =>
      callTaskView(callRow({}), [recipientRow('in_progress')], [attempt], [turn]).recipients[0]?.attempts[0];
    expect(view(talked)?.transcript_turns).toEqual([{ offset_seconds: 7, speaker: 'user', text: 'Yes.' }]);
    expect(view(attemptRow({}))?.transcript_turns).toMatchObject([{ offset_seconds: null }]);
  });

  it.each([
    [0, 'low'],
    [0.49, 'low'],
    [0.5, 'medium'],
    [0.79, 'medium'],
    [0.8, 'high'],
    [1, 'high'],
  ])('calls a confidence of %d %s', (score, label) => {
    const view = callTaskView(callRow({ confidence: score }), [], [], []);
    expect(view.completion_confidence).toEqual({ score, label });
  });
});
