import { expect, it } from 'vitest';
import { VirtualTime } from '../../../src/carriers/simulated/virtual-time.ts';
import { systemClock, type Clock } from '../../../src/platform/clock.ts';

/** A wall clock that stands still until it is slept on, and remembers for how long. */
function countingClock(): Clock & { sleptMs: number } {
  const clock = {
    sleptMs: 0,
    now: () => clock.sleptMs,
    monotonic: () => clock.sleptMs,
    sleep: async (ms: number, signal?: AbortSignal) => {
      await Promise.resolve();
      if (signal?.aborted) return false;
      clock.sleptMs += ms;
      return true;
    },
  };
  return clock;
}

it('timers fire by time, and those of one time in the order of their making', async () => {
  const time = new VirtualTime(systemClock, Infinity);
  const fired: string[] = [];
  time.schedule(20, () => fired.push(`late at ${time.now}`));
  time.schedule(10, () => fired.push(`first at ${time.now}`));
  time.schedule(10, () => fired.push(`second at ${time.now}`));
  await time.sleep(30);
  expect(fired).toEqual(['first at 10', 'second at 10', 'late at 20']);
});

it('everything that a timer settles has run before the next one fires', async () => {
  const time = new VirtualTime(systemClock, Infinity);
  const seen: number[] = [];
  const chain = async () => {
    await time.sleep(10);
    for (let hop = 0; hop < 50; hop += 1) await Promise.resolve();
    seen.push(time.now);
  };
  await Promise.all([chain(), time.sleep(11), time.sleep(12)]);
  expect(seen).toEqual([10]);
});

it('the wall clock pays for virtual time by the speed while our side waits', async () => {
  const clock = countingClock();
  const time = new VirtualTime(clock, 20);
  await time.whileWaiting(time.sleep(1_000));
  await time.whileWaiting(time.sleep(1_000));
  expect(time.now).toBe(2_000);
  expect(clock.sleptMs).toBe(100);
});

it('while our side is busy elsewhere virtual time runs no faster than the wall clock', async () => {
  const clock = countingClock();
  const time = new VirtualTime(clock, Infinity);
  await time.sleep(500);
  expect(clock.sleptMs).toBe(500);
});

it('a wait of our side that begins in a pause speeds time up at once', async () => {
  const time = new VirtualTime(systemClock, Infinity);
  const slow = time.sleep(3_600_000);
  await new Promise((resolve) => setImmediate(resolve));
  await time.whileWaiting(slow);
  expect(time.now).toBe(3_600_000);
});

it('stopping tells every timer, and nothing fires any more', async () => {
  const time = new VirtualTime(systemClock, Infinity);
  const waits = [time.sleep(10), time.sleep(20)];
  time.stop();
  expect(await Promise.all(waits)).toEqual([false, false]);
  expect(await time.sleep(5)).toBe(false);
  expect(time.now).toBe(0);
});

it('more timers than a call can need are refused as a leak', () => {
  const time = new VirtualTime(systemClock, Infinity);
  expect(() => {
    for (let index = 0; index <= 1_000; index += 1) time.schedule(10, () => undefined);
  }).toThrow('few timers');
  time.stop();
});
