import { expect, test } from 'vitest';
import { monthOf, newlyReached, percentOf, reachedThreshold } from '../../../src/billing/budget.ts';

test.each([
  [0n, 0, null, []],
  [79n, 79, null, []],
  [80n, 80, 80, [80]],
  [99n, 99, 80, [80]],
  [100n, 100, 100, [80, 100]],
  [250n, 250, 100, [80, 100]],
])('of a budget of 100, %s are %i %%: %s', (used, percent, reached, news) => {
  expect(percentOf(used, 100n)).toBe(percent);
  expect(reachedThreshold(used, 100n)).toBe(reached);
  expect(newlyReached(used, 100n, 0)).toEqual(news);
});

test('nobody is told twice', () => {
  expect(newlyReached(90n, 100n, 80)).toEqual([]);
  expect(newlyReached(120n, 100n, 80)).toEqual([100]);
  expect(newlyReached(120n, 100n, 100)).toEqual([]);
});

test('a month begins at midnight UTC', () => {
  expect(monthOf(Date.parse('2026-11-30T23:59:59.999Z'))).toBe('2026-11-01');
  expect(monthOf(Date.parse('2026-12-01T00:00:00Z'))).toBe('2026-12-01');
});
