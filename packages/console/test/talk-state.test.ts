import { expect, test } from 'vitest';
import { nextTalk, noTalk, type TalkEvent, type TalkState } from '../app/talk/talk-state.ts';

const after = (...events: TalkEvent[]): TalkState => events.reduce(nextTalk, noTalk);
const started: TalkEvent = { type: 'started', mode: 'typed' };
const answered: TalkEvent = { type: 'answered', limit_seconds: 60 };
const turn: TalkEvent = {
  type: 'turn',
  index: 0,
  speaker: 'bot',
  text: 'Hello',
  offset_seconds: 1,
  interrupted: false,
};
const ended: TalkEvent = { type: 'ended', outcome: 'conversation', ended_by: 'agent', note: null };
const result: TalkEvent = { type: 'result', result: { well: true }, error: null, evidence: {} };

test('a talk goes its way, and its end is no failure', () => {
  expect(after(started).phase).toBe('connecting');
  expect(after(started, answered).phase).toBe('talking');
  expect(after(started, answered, turn).lines).toEqual([turn]);
  expect(after(started, answered, turn, ended).phase).toBe('drawing');
  const over = after(started, answered, turn, ended, result);
  expect(over).toMatchObject({ phase: 'over', problem: null, result });
  expect(nextTalk(over, { type: 'closed' })).toBe(over);
});

test('a connection that breaks off before the result is a failure, and keeps what was said', () => {
  for (const events of [[started], [started, answered, turn], [started, answered, turn, ended]]) {
    const lost = after(...events, { type: 'closed' });
    expect(lost).toMatchObject({ phase: 'over', problem: { kind: 'lost' } });
    expect(lost.lines).toEqual(after(...events).lines);
  }
});

test('what the server said stood in the way is not replaced by the loss of the connection', () => {
  const refused = after(started, { type: 'problem', message: 'the draft is not valid yet', problems: [] });
  expect(refused.problem).toMatchObject({ kind: 'said', message: 'the draft is not valid yet' });
  expect(nextTalk(refused, { type: 'closed' })).toBe(refused);
});

test('another talk begins with nothing of the last one', () => {
  const next = nextTalk(after(started, answered, turn, ended, result), { type: 'started', mode: 'spoken' });
  expect(next).toEqual({ ...noTalk, phase: 'connecting', mode: 'spoken' });
});

test('an interruption changes nothing that is shown', () => {
  const talking = after(started, answered);
  expect(nextTalk(talking, { type: 'clear' })).toBe(talking);
});
