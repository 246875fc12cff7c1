import { describe, expect, it } from 'vitest';
import { createBatcher } from '../../../src/platform/batcher.ts';

/** A batcher whose batches wait until they are let go. */
function harness(
  over: { lanes?: number; maxBatch?: number; maxWaiting?: number; fail?: (item: number) => boolean } = {},
) {
  const batches: number[][] = [];
  const release: (() => void)[] = [];
  const batcher = createBatcher<number, number>({
    lanes: over.lanes ?? 1,
    maxBatch: over.maxBatch ?? 100,
    maxWaiting: over.maxWaiting ?? 100,
    onFull: () => new Error('full'),
    retryAlone: () => true,
    run: async (items) => {
      batches.push([...items]);
      await new Promise<void>((resolve) => release.push(resolve));
      if (over.fail !== undefined && items.some(over.fail)) throw new Error('refused');
      return items.map((item) => item * 10);
    },
  });
  return { batcher, batches, release, turn: () => new Promise(setImmediate) };
}

describe('a batcher', () => {
  it('sends a lone item at once, and gathers those that come while it is under way', async () => {
    const { batcher, batches, release, turn } = harness();
    const first = batcher.submit(1);
    await turn();
    const others = [2, 3, 4].map((item) => batcher.submit(item));
    await turn();
    expect(batches).toEqual([[1]]);
    release.shift()?.();
    expect(await first).toBe(10);
    for (let round = 0; round < 3; round += 1) await turn();
    release.shift()?.();
    expect(await Promise.all(others)).toEqual([20, 30, 40]);
    expect(batches).toEqual([[1], [2, 3, 4]]);
  });

  it('has no more batches under way than lanes, and none larger than its bound', async () => {
    const { batcher, batches, release, turn } = harness({ lanes: 2, maxBatch: 2 });
    const all = Array.from({ length: 7 }, (_, item) => batcher.submit(item));
    for (let round = 0; round < 4; round += 1) await turn();
    expect(batches).toEqual([
      [0, 1],
      [2, 3],
    ]);
    const finished = Promise.all(all);
    for (let round = 0; round < 20; round += 1) {
      release.shift()?.();
      await turn();
    }
    expect(await finished).toEqual([0, 10, 20, 30, 40, 50, 60]);
    expect(Math.max(...batches.map((batch) => batch.length))).toBe(2);
  });

  it('refuses what does not fit in the queue, and loses nothing that was taken', async () => {
    const { batcher, release, turn } = harness({ maxWaiting: 2 });
    const taken = [batcher.submit(1), batcher.submit(2)];
    await expect(batcher.submit(3)).rejects.toThrow('full');
    await turn();
    release.shift()?.();
    expect(await Promise.all(taken)).toEqual([10, 20]);
  });

  it('lets a poisonous item fail alone', async () => {
    const { batcher, release, turn } = harness({ fail: (item) => item === 2 });
    const all = Promise.allSettled([1, 2, 3].map((item) => batcher.submit(item)));
    for (let round = 0; round < 10; round += 1) {
      await turn();
      release.shift()?.();
    }
    expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  });
});
