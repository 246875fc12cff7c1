import { readdir } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Ports } from '../../src/media/ports.ts';
import { MediaStream } from '../../src/media/stream.ts';
import { until } from '../kit/agents.ts';
import { join, mediaTo, openEngine, openLine } from './kit/lines.ts';

const CALLS = 1_000;
const AT_ONCE = 50;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const openFiles = async (): Promise<number> => (await readdir('/proc/self/fd')).length;

/** Waits until the garbage collector took all of them. */
async function forgotten(refs: readonly WeakRef<object>[]): Promise<void> {
  await until(() => {
    collectGarbage();
    return refs.every((ref) => ref.deref() === undefined);
  }, 'everything to be forgotten');
}

test('1,000 calls with audio both ways leave no socket, no port and no growing memory', async () => {
  const engine = openEngine();
  const refs: WeakRef<object>[] = [];
  const round = async (): Promise<void> => {
    const lines = await Promise.all(Array.from({ length: AT_ONCE }, () => openLine(engine)));
    for (let at = 0; at < AT_ONCE; at += 2) {
      const [a, b] = [lines[at], lines[at + 1]];
      if (a === undefined || b === undefined) throw new Error('an odd number of lines');
      join(a, b, { rtcpMux: at % 4 === 0 });
      a.call.play(new Uint8Array(800).fill(7));
      if (at % 6 === 0) a.call.dial('12');
    }
    await until(() => lines.every(({ kinds }) => kinds.includes('voice')), 'all hear');
    const ends = await Promise.all(lines.map(({ call }) => call.close()));
    expect(new Set(ends.map(({ reason }) => reason))).toEqual(new Set(['closed']));
    expect(engine.size).toBe(0);
    refs.push(...lines.map(({ call }) => new WeakRef(call)));
  };
  await round();
  const before = { files: await openFiles(), memory: process.memoryUsage().rss };
  for (let done = 0; done < CALLS; done += AT_ONCE) await round();
  expect(await openFiles()).toBeLessThanOrEqual(before.files);
  await forgotten(refs);
  // Coarse, for the young generations of two heaps grow to their size first; the test below is exact.
  expect(process.memoryUsage().rss - before.memory).toBeLessThan(80 * 2 ** 20);
  await engine.close();
  const left = (): string[] =>
    process.getActiveResourcesInfo().filter((name) => /UDP|MessagePort|Worker/.test(name));
  await until(() => left().length === 0, 'the worker');
}, 120_000);

test('what the worker keeps of a call is forgotten when the call is closed', async () => {
  const ports = new Ports('127.0.0.1', { first: 22_000, last: 22_999 });
  const one = async (rtcpMux: boolean): Promise<WeakRef<object>> => {
    const pair = await ports.take();
    if (pair === undefined) throw new Error('no port');
    const options = { idle: 'silence', silenceLimitMs: 1_000 } as const;
    const stream = new MediaStream(
      pair,
      options,
      () => {},
      (work) => work(),
    );
    stream.connect(mediaTo(pair.port, { rtcpMux }));
    stream.send(0);
    stream.hear(new Uint8Array(160));
    await stream.close();
    ports.release(pair.port);
    return new WeakRef(stream);
  };
  const refs: WeakRef<object>[] = [];
  for (let index = 0; index < 100; index += 1) refs.push(await one(index % 2 === 0));
  expect(ports.inUse).toBe(0);
  await forgotten(refs);
});
