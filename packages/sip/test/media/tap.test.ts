import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MediaEngine, TappedFrame } from '../../src/index.ts';
import { until } from '../kit/agents.ts';
import { join, noise, openEngine, openLine, passes, type Line } from './kit/lines.ts';

let engine: MediaEngine;
let other: MediaEngine;
beforeAll(() => {
  engine = openEngine();
  other = openEngine();
});
afterAll(() => Promise.all([engine.close(), other.close()]));

async function pair(): Promise<[Line, Line]> {
  const [a, b] = [await openLine(engine), await openLine(other)];
  join(a, b);
  await until(() => a.kinds.includes('voice') && b.kinds.includes('voice'), 'both hear');
  return [a, b];
}

function collect(line: Line): { readonly frames: TappedFrame[]; readonly stop: () => void } {
  const frames: TappedFrame[] = [];
  return { frames, stop: line.call.tap((frame) => frames.push(frame)) };
}

const heardOf = (frames: readonly TappedFrame[]) => Buffer.concat(frames.map(({ heard }) => heard));
const sentOf = (frames: readonly TappedFrame[]) => Buffer.concat(frames.map(({ sent }) => sent));
const ticks = (line: Line, count: number) => {
  const from = line.kinds.length;
  return until(() => line.kinds.length >= from + count, 'some ticks');
};

test('a tap has what came and what really left, to the bit, each on its side', async () => {
  const [a, b] = await pair();
  const { frames, stop } = collect(a);
  const [fromA, fromB] = [noise(400, 1), noise(400, 2)];
  expect(await Promise.all([passes(a, b, fromA), passes(b, a, fromB)])).toEqual([true, true]);
  expect(a.heard().includes(heardOf(frames).subarray(0, 1_600))).toBe(true);
  expect(heardOf(frames).includes(fromB)).toBe(true);
  expect(sentOf(frames).includes(fromA)).toBe(true);
  expect([heardOf(frames).includes(fromA), sentOf(frames).includes(fromB)]).toEqual([false, false]);
  expect(frames.every((frame) => frame.codec === 'PCMU' && frame.sent.length === 160)).toBe(true);
  stop();
  await Promise.all([a.call.close(), b.call.close()]);
});

test('what was queued and dropped again is not in the tap: it never left', async () => {
  const [a, b] = await pair();
  const { frames } = collect(a);
  const [said, dropped] = [noise(200, 3), noise(2_000, 4)];
  a.call.play(said);
  expect(await a.call.mark()).toBe('played');
  a.call.play(dropped);
  await a.call.clear();
  await ticks(a, 10);
  expect(sentOf(frames).includes(said)).toBe(true);
  expect(sentOf(frames).includes(dropped.subarray(-160))).toBe(false);
  await Promise.all([a.call.close(), b.call.close()]);
});

test('each tap stops by itself, and only its own call is heard', async () => {
  const [a, b] = await pair();
  const [c, d] = await pair();
  const [one, two] = [collect(a), collect(a)];
  await until(() => one.frames.length > 3 && two.frames.length > 3, 'both taps');
  one.stop();
  one.stop();
  const before = [one.frames.length, two.frames.length];
  const foreign = noise(300, 5);
  expect(await passes(c, d, foreign)).toBe(true);
  await ticks(a, 5);
  expect(one.frames.length).toBe(before[0]);
  expect(two.frames.length).toBeGreaterThan(before[1] ?? 0);
  expect(sentOf(two.frames).includes(foreign)).toBe(false);
  two.stop();
  await ticks(a, 2);
  const after = two.frames.length;
  await ticks(a, 5);
  expect(two.frames.length).toBe(after);
  const again = collect(a);
  await until(() => again.frames.length > 3, 'a new tap');
  await Promise.all([a, b, c, d].map(({ call }) => call.close()));
});

test('the end of the call ends the tap, and afterwards there is nothing to tap', async () => {
  const [a, b] = await pair();
  const { frames, stop } = collect(a);
  await until(() => frames.length > 3, 'the tap');
  await a.call.close();
  const count = frames.length;
  const late = collect(a);
  await ticks(b, 5);
  expect([frames.length, late.frames.length]).toEqual([count, 0]);
  stop();
  late.stop();
  await b.call.close();
});
