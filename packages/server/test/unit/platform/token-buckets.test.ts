import { describe, expect, it } from 'vitest';
import { TokenBuckets } from '../../../src/platform/token-buckets.ts';
import type { Clock } from '../../../src/platform/clock.ts';

function manualClock(): Clock & { ms: number } {
  const clock = {
    ms: 0,
    now: () => clock.ms,
    monotonic: () => clock.ms,
    sleep: () => Promise.reject(new Error('nobody sleeps here')),
  };
  return clock;
}

describe('token buckets', () => {
  it('let a burst through, then the rate, and say how long to wait', () => {
    const clock = manualClock();
    const buckets = new TokenBuckets(clock, { perSecond: 0.3, burst: 2 });
    expect([buckets.take('a'), buckets.take('a')]).toEqual([0, 0]);
    expect(buckets.take('a')).toBe(4);
    clock.ms = 3_000;
    expect(buckets.take('a')).toBe(1);
  });

  it('hold a token for who waits exactly as long as told, at any rate', () => {
    for (const perSecond of [0.1, 0.3, 0.7, 1, 3, 7, 500]) {
      const clock = manualClock();
      const buckets = new TokenBuckets(clock, { perSecond, burst: 1 });
      for (let round = 0; round < 50; round += 1) {
        expect(buckets.take('a')).toBe(0);
        const waitSeconds = buckets.take('a');
        expect(waitSeconds).toBeGreaterThanOrEqual(1);
        clock.ms += waitSeconds * 1_000;
      }
    }
  });

  it('never let more through than the burst and what has flowed in', () => {
    const clock = manualClock();
    const buckets = new TokenBuckets(clock, { perSecond: 500, burst: 1_000 });
    let passed = 0;
    for (; clock.ms < 4_000; clock.ms += 0.5) if (buckets.take('a') === 0) passed += 1;
    expect(passed).toBeLessThanOrEqual(3_000);
    expect(passed).toBeGreaterThan(2_990);
  });

  it('are one for each name, and give back no more than they hold', () => {
    const buckets = new TokenBuckets(manualClock(), { perSecond: 1, burst: 1 });
    expect([buckets.take('a'), buckets.take('b')]).toEqual([0, 0]);
    buckets.giveBack('a');
    buckets.giveBack('a');
    expect(buckets.take('a')).toBe(0);
    expect(buckets.take('a')).toBeGreaterThan(0);
  });

  it('forget the name that was used longest ago when there are too many', () => {
    const buckets = new TokenBuckets(manualClock(), { perSecond: 1, burst: 1 }, 2);
    for (const name of ['a', 'b', 'a', 'c']) buckets.take(name);
    expect(buckets.take('a')).toBeGreaterThan(0);
    expect(buckets.take('b')).toBe(0);
  });
});
