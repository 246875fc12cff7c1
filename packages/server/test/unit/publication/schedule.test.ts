import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/publication/post.ts';
import { maxTries, nextStep, readRetryAfter } from '../../../src/publication/schedule.ts';

const answered = (status: number, retryAfterMs: number | null = null): Answer => ({
  kind: 'answered',
  status,
  retryAfterMs,
  text: '',
});
const middle = 0.5;
const hour = 3_600_000;

describe('the next step of a delivery', () => {
  it('follows the schedule through eight tries in about 28 hours, and then gives up', () => {
    const steps = Array.from({ length: maxTries }, (_, index) => nextStep(answered(500), index + 1, middle));
    expect(steps.pop()).toEqual({ state: 'failed' });
    expect(steps.map((step) => step.state === 'waiting' && step.waitMs)).toEqual([
      5_000,
      300_000,
      1_800_000,
      2 * hour,
      5 * hour,
      10 * hour,
      10 * hour,
    ]);
  });

  it('varies each wait by a tenth at most', () => {
    expect(nextStep(answered(500), 2, 0)).toMatchObject({ waitMs: 270_000 });
    const latest = nextStep(answered(500), 2, 1 - Number.EPSILON);
    expect(latest.state === 'waiting' ? latest.waitMs : 0).toBeCloseTo(330_000);
  });

  it.each([200, 201, 202, 204, 299])('is done with %i', (status) => {
    expect(nextStep(answered(status), 1, middle)).toEqual({ state: 'delivered' });
    expect(nextStep(answered(status), maxTries, middle)).toEqual({ state: 'delivered' });
  });

  it.each([100, 199, 300, 301, 302, 304, 307, 308, 400, 401, 404, 409, 422, 429, 500, 503])(
    'is another try after %i',
    (status) => {
      expect(nextStep(answered(status), 1, middle)).toEqual({
        state: 'waiting',
        waitMs: 5_000,
        counts: true,
      });
    },
  );

  it('is none when the receiver says that it is gone', () => {
    expect(nextStep(answered(410), 1, middle)).toEqual({ state: 'failed' });
  });

  it('waits as long as the receiver asks, but neither less than planned nor more than 10 hours', () => {
    expect(nextStep(answered(503, 60_000), 1, middle)).toMatchObject({ waitMs: 60_000 });
    expect(nextStep(answered(429, 0), 2, middle)).toMatchObject({ waitMs: 300_000 });
    expect(nextStep(answered(503, 1_000 * hour), 1, middle)).toMatchObject({ waitMs: 10 * hour });
  });

  it('does not count a try that our own stop has cut off', () => {
    const step = nextStep({ kind: 'unanswered', error: 'interrupted' }, maxTries, middle);
    expect(step).toEqual({ state: 'waiting', waitMs: 0, counts: false });
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-11-21T04:40:00Z');
  it.each([
    ['0', 0],
    ['120', 120_000],
    ['Sat, 21 Nov 2026 04:41:00 GMT', 60_000],
    ['Sat, 21 Nov 2026 04:00:00 GMT', 0],
    [undefined, null],
    ['', null],
    ['-5', null],
    ['1.5', null],
    ['1e9', null],
    ['soon', null],
    ['Sat, 99 Nov 2026 04:41:00 GMT', null],
    ['9'.repeat(400), null],
  ])('%j is %j milliseconds', (text, expected) => {
    expect(readRetryAfter(text, now)).toBe(expected);
  });
});
