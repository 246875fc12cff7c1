import type { ScriptedCallee, TestEnd } from '@trunkcall/contract';
import { describe, expect, test } from 'vitest';
import { judge } from '../../../src/rehearsal/judge.ts';

const gave = (result: TestEnd['result']): TestEnd => ({ outcome: 'conversation', result, error: null });
const failed = (code: NonNullable<TestEnd['error']>['code']): TestEnd => ({
  outcome: 'busy',
  result: null,
  error: { code, detail_code: null },
});

type Expected = ScriptedCallee['expect'];

describe('the end of a call', () => {
  test.each<[string, Expected, TestEnd]>([
    ['has the expected values, and others besides', { result: { a: 1 } }, gave({ a: 1, b: 'x' })],
    ['is a result, of which nothing more was expected', { result: {} }, gave({ a: 1 })],
    ['is the expected error', { error: 'no_answer' }, failed('no_answer')],
  ])('passes when it %s', (_name, expected, actual) => {
    expect(judge(expected, actual)).toEqual({ verdict: 'passed', differences: [] });
  });

  test.each<[string, Expected, TestEnd, unknown]>([
    [
      'has another value',
      { result: { a: 1, b: true } },
      gave({ a: 2, b: true }),
      { pointer: '/result/a', expected: 1, actual: 2 },
    ],
    [
      'has the value as another type',
      { result: { a: 1 } },
      gave({ a: '1' }),
      { pointer: '/result/a', expected: 1, actual: '1' },
    ],
    [
      'lacks a field, also one that every object inherits',
      { result: { constructor: 'x' } },
      gave({}),
      { pointer: '/result/constructor', expected: 'x', actual: null },
    ],
    [
      'is an error instead of a result',
      { result: {} },
      failed('result_invalid'),
      { pointer: '/error', expected: null, actual: 'result_invalid' },
    ],
    [
      'is another error',
      { error: 'no_answer' },
      failed('declined'),
      { pointer: '/error', expected: 'no_answer', actual: 'declined' },
    ],
    [
      'is a result instead of an error',
      { error: 'no_answer' },
      gave({ a: 1 }),
      { pointer: '/error', expected: 'no_answer', actual: null },
    ],
  ])('fails when it %s, and says where', (_name, expected, actual, difference) => {
    expect(judge(expected, actual)).toEqual({ verdict: 'failed', differences: [difference] });
  });

  test.each<[string, Expected]>([
    ['no expectation', undefined],
    ['an empty one', {}],
  ])('with %s is not judged: never a pass', (_name, expected) => {
    expect(judge(expected, gave({ a: 1 })).verdict).toBe('not_judged');
  });
});
