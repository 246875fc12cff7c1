import type { GoalFile } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import { decideAnswer, whyNotAccepted } from '../../../src/inbound/decide.ts';
import type { LineRow } from '../../../src/storage/inbound.ts';
import { goalFile } from '../../kit/fixtures.ts';

/** A Saturday, 19:00 in New York. */
const now = Date.parse('2026-11-21T24:00:00Z');
const weekdays: GoalFile['calling_window'] = {
  timezone: 'America/New_York',
  days: ['mon', 'tue', 'wed', 'thu', 'fri'],
  from: '09:00',
  to: '17:00',
};
const content = (over: Partial<GoalFile> = {}) =>
  goalFile({
    input_schema: {
      type: 'object',
      additionalProperties: false,
      properties: { name: { type: 'string', default: 'the caller' }, note: { type: 'string' } },
      required: ['name'],
    },
    ...over,
  });
const line: LineRow = {
  number_id: 'num_1',
  account_id: 'acct_1',
  account_name: 'Acme',
  goal_id: 'goal_1',
  goal_state: 'active',
  run_spec_id: 'rspec_1',
  run_spec_version: 3,
  content: content(),
};

const decide = (over: Partial<LineRow> | undefined, problems: readonly string[] = []) =>
  decideAnswer(over === undefined ? undefined : { ...line, ...over }, now, () => problems);

describe('who answers a call', () => {
  it('is the published Goal of the number, with its defaults and in the account’s name', () => {
    expect(decide({})).toEqual({
      kind: 'answer',
      line: {
        numberId: 'num_1',
        accountId: 'acct_1',
        accountName: 'Acme',
        goalId: 'goal_1',
        runSpecId: 'rspec_1',
        runSpecVersion: 3,
        content: line.content,
        variables: { name: 'the caller' },
        announcement: null,
      },
    });
  });

  const unpublished = { run_spec_id: null, run_spec_version: null, content: null };
  const closed = content({ calling_window: weekdays });
  const refusals: [string, Partial<LineRow> | undefined, string, number | null][] = [
    ['a number that is not ours', undefined, 'unknown_number', null],
    ['a shared number', { account_id: null, account_name: null, goal_id: null }, 'not_answered', null],
    ['a number without a Goal', { goal_id: null, goal_state: null, ...unpublished }, 'not_answered', null],
    ['a Goal that is not published', { goal_state: 'draft', ...unpublished }, 'not_answered', null],
    ['a paused Goal', { goal_state: 'paused' }, 'not_answered', null],
    ['a retired Goal', { goal_state: 'retired' }, 'not_answered', null],
    ['a Goal with variables that nobody gives', { content: goalFile() }, 'not_answered', null],
    // 38 hours to Monday, 9 o'clock.
    ['closed hours', { content: closed }, 'outside_hours', 38 * 3_600],
    [
      'closed hours of a Goal that rejects then',
      { content: { ...closed, inbound: { outside_hours: 'reject' } } },
      'outside_hours',
      38 * 3_600,
    ],
  ];
  it.each(refusals)('is nobody for %s', (_, over, reason, retryAfterSeconds) => {
    expect(decide(over)).toMatchObject({ kind: 'refuse', reason, retryAfterSeconds });
  });

  it('is nobody while no agent here can speak for the Goal', () => {
    expect(decide({}, ['espeak-ng is missing'])).toMatchObject({
      kind: 'refuse',
      reason: 'not_answered',
      note: 'espeak-ng is missing',
    });
  });

  it('is an announcement in closed hours, when the Goal has one', () => {
    const inbound = { outside_hours: 'message', message: 'We are closed, {{name}}{{note}}.' } as const;
    expect(decide({ content: { ...closed, inbound } })).toMatchObject({
      kind: 'answer',
      line: { announcement: 'We are closed, the caller.' },
    });
    expect(decide({ content: content({ inbound }) })).toMatchObject({ line: { announcement: null } });
  });
});

it.each([
  [{ unchanged: true, account_room: 0, room: null }, 'busy'],
  [{ unchanged: true, account_room: 2, room: 0 }, 'busy'],
  [{ unchanged: true, account_room: 2, room: 2 }, 'duplicate'],
  [{ unchanged: false, account_room: 2, room: null }, 'not_answered'],
])('of a call that was not stored %j means %s', (row, reason) => {
  expect(whyNotAccepted(row)).toMatchObject({ kind: 'refuse', reason });
});
