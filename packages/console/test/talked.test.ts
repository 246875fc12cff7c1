import type { ConsoleRunDetail, OperatorAttempt } from '@trunkcall/contract';
import { expect, test } from 'vitest';
import { talkedMs } from '../app/run/talked.ts';

const attempt = (answered_at: string | null, ended_at: string | null) =>
  ({ number: 1, answered_at, ended_at }) as OperatorAttempt;
const turns = (...offsets: (readonly [attempt: number, offset_seconds: number])[]) =>
  offsets.map(([number, offset_seconds]) => ({
    attempt: number,
    offset_seconds,
  })) as unknown as ConsoleRunDetail['transcript'];
const answered = '2026-11-01T10:00:00.000Z';
const ended = '2026-11-01T10:00:02.000Z';

test('a call lasted from its answer to its end, and at least as long as it was spoken', () => {
  expect(talkedMs(attempt(null, ended), turns())).toBeNull();
  expect(talkedMs(attempt(answered, null), turns([1, 3]))).toBeNull();
  expect(talkedMs(attempt(answered, ended), turns())).toBe(2_000);
  expect(talkedMs(attempt(answered, ended), turns([1, 1.5], [2, 90]))).toBe(2_000);
  expect(talkedMs(attempt(answered, ended), turns([1, 1.5], [1, 55], [2, 90]))).toBe(55_000);
});
