import { describe, expect, test } from 'vitest';
import { FRAME_SAMPLES, SILENCE } from '../../src/media/g711.ts';
import { JitterBuffer, MAX_DEPTH_MS } from '../../src/media/jitter-buffer.ts';
import { SeededRandom } from '../kit/seeded-random.ts';

interface Sent {
  readonly index: number;
  readonly arrivesMs: number;
}

/** Below the wrap by 50 packets. */
const FIRST_TIMESTAMP = 0xffff_ffff - 50 * FRAME_SAMPLES;

/** Each packet's audio is its number, never the code of silence. */
function audioOf(index: number, samples = FRAME_SAMPLES): Uint8Array {
  return new Uint8Array(samples).fill((index % 250) + 1);
}

/** Runs packets through a buffer that is read every 20 ms; the result is the first sample of every frame. */
function run(
  packets: readonly Sent[],
  durationMs: number,
  frameMs = 20,
): { heard: number[]; buffer: JitterBuffer } {
  const buffer = new JitterBuffer(SILENCE.PCMU);
  const queue = packets.toSorted((a, b) => a.arrivesMs - b.arrivesMs);
  const frame = new Uint8Array(FRAME_SAMPLES);
  const heard: number[] = [];
  for (let now = 10; now < durationMs; now += 20) {
    while (queue[0] !== undefined && queue[0].arrivesMs <= now) {
      const { index, arrivesMs } = queue.shift() ?? { index: 0, arrivesMs: now };
      const samples = frameMs * 8;
      const timestamp = (FIRST_TIMESTAMP + index * samples) >>> 0;
      buffer.write(65_500 + index, timestamp, audioOf(index, samples), arrivesMs - (now - 20));
    }
    buffer.read(frame);
    heard.push(frame[0] ?? 0);
    expect(buffer.stats().depthMs).toBeLessThanOrEqual(MAX_DEPTH_MS);
  }
  return { heard, buffer };
}

const isSound = (code: number): boolean => code !== SILENCE.PCMU;
const stream = (count: number, delay: (index: number) => number = () => 0): Sent[] =>
  Array.from({ length: count }, (_, index) => ({ index, arrivesMs: index * 20 + delay(index) }));
const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => (index % 250) + 1);

test('a steady stream comes out complete, in order and 40 ms later, across the wrap of its timestamps', () => {
  const { heard, buffer } = run(stream(200), 4_200);
  expect(heard.filter(isSound)).toEqual(numbers(200));
  expect(heard.findIndex(isSound)).toBe(2);
  expect(buffer.stats()).toMatchObject({ late: 0, duplicates: 0, concealed: 0, skipped: 0, depthMs: 40 });
});

test.each([1, 5, 9, 11, 15, 19])(
  'a packet that comes %i ms behind a read waits 40 ms, give or take half a frame',
  (sinceReadMs) => {
    const buffer = new JitterBuffer(SILENCE.PCMU);
    const frame = new Uint8Array(FRAME_SAMPLES);
    const heard: number[] = [];
    for (let index = 0; index < 300; index += 1) {
      buffer.write(index, index * FRAME_SAMPLES, audioOf(index), sinceReadMs);
      buffer.read(frame);
      heard.push(frame[0] ?? 0);
    }
    expect(heard.filter(isSound)).toEqual(numbers(300).slice(0, heard.filter(isSound).length));
    // The first read comes 20 ms less `sinceReadMs` behind the packet.
    const waitMs = 20 - sinceReadMs + 20 * heard.findIndex(isSound);
    expect(Math.abs(waitMs - 40)).toBeLessThanOrEqual(10);
    expect(buffer.stats()).toMatchObject({ late: 0, concealed: 0, skipped: 0 });
  },
);

test.each([10, 30, 40, 60])('packets of %i ms come out complete', (frameMs) => {
  const packets = Array.from({ length: 100 }, (_, index) => ({ index, arrivesMs: index * frameMs }));
  const { heard, buffer } = run(packets, 100 * frameMs + 200, frameMs);
  expect(heard.filter(isSound).length).toBeGreaterThanOrEqual((100 * frameMs) / 20);
  expect(buffer.stats()).toMatchObject({ late: 0, concealed: 0 });
});

test('reordering within the target depth changes nothing', () => {
  const { heard, buffer } = run(
    stream(200, (index) => (index % 3 === 0 ? 29 : 0)),
    4_200,
  );
  expect(heard.filter(isSound)).toEqual(numbers(200));
  expect(buffer.stats()).toMatchObject({ late: 0, concealed: 0 });
});

test('every packet twice is heard once and counted', () => {
  const { heard, buffer } = run([...stream(100), ...stream(100, () => 7)], 2_200);
  expect(heard.filter(isSound)).toEqual(numbers(100));
  expect(buffer.stats().duplicates).toBe(100);
});

test('30 % loss leaves silence in the places of the lost packets and shifts nothing', () => {
  const random = new SeededRandom(30);
  const kept = stream(500).filter(({ index }) => index === 0 || random.next() >= 0.3);
  const { heard } = run(kept, 10_200);
  const expected = numbers(500).map((code, index) =>
    kept.some((packet) => packet.index === index) ? code : SILENCE.PCMU,
  );
  expect(heard.slice(2, 502)).toEqual(expected);
});

test('jitter beyond the target makes the buffer deeper, and when it is over the depth comes back', () => {
  const random = new SeededRandom(8);
  const shaky = (index: number): number => (index > 100 && index < 600 ? random.below(120) : 0);
  const { heard, buffer } = run(stream(2_000, shaky), 40_200);
  const afterLearning = heard.slice(300, 590).filter((code) => !isSound(code)).length;
  expect(afterLearning / 290).toBeLessThan(0.08);
  expect(buffer.stats().late).toBeGreaterThan(0);
  expect(buffer.stats().depthMs).toBeLessThanOrEqual(60);
});

describe.each([0.998, 1.002])('a sender whose clock runs at %f of ours', (speed) => {
  test('is followed for ten minutes with little loss and no growing delay', () => {
    const packets = Array.from({ length: 30_000 }, (_, index) => ({
      index,
      arrivesMs: (index * 20) / speed,
    }));
    const { heard, buffer } = run(packets, 600_000);
    const silent = heard.filter((code) => !isSound(code)).length;
    // 0.2 % of ten minutes are 60 frames that must come from, or go, somewhere.
    expect(silent).toBeLessThan(200);
    expect(buffer.stats().skipped / FRAME_SAMPLES).toBeLessThan(200);
    expect(buffer.stats().depthMs).toBeLessThanOrEqual(100);
  });
});

test('single packets that often come late make the buffer deeper until they are in time', () => {
  const { heard, buffer } = run(
    stream(500, (index) => (index % 5 === 0 ? 90 : 0)),
    10_400,
  );
  expect(buffer.stats().late).toBeLessThan(20);
  expect(heard.slice(100, 490).every(isSound)).toBe(true);
});

test('a stall of the network is made up: the delay afterwards returns to the target', () => {
  const stalled = stream(1_000, (index) => (index >= 100 && index < 150 ? (150 - index) * 20 : 0));
  const { heard, buffer } = run(stalled, 20_200);
  expect(buffer.stats().depthMs).toBeLessThanOrEqual(60);
  const last = heard.findLastIndex(isSound);
  expect(last).toBeLessThan(1_000 + 8);
});

test('a pause of the sender is no loss, whether its timestamps go on or stand still', () => {
  const packets = stream(200, (index) => (index >= 100 ? 3_000 : 0));
  const { heard, buffer } = run(packets, 8_000);
  expect(heard.filter(isSound)).toEqual(numbers(200));
  expect(buffer.stats().concealed).toBe(0);
});

test('a source that jumps to far timestamps is heard again at once', () => {
  for (const leap of [1e6, -1e6, 2 ** 31, 2 ** 31 - 1]) {
    const buffer = new JitterBuffer(SILENCE.PCMU);
    const frame = new Uint8Array(FRAME_SAMPLES);
    const heard: number[] = [];
    for (let index = 0; index < 100; index += 1) {
      const timestamp = (index * FRAME_SAMPLES + (index < 50 ? 0 : leap)) >>> 0;
      buffer.write(index, timestamp, audioOf(index));
      buffer.read(frame);
      heard.push(frame[0] ?? 0);
    }
    expect(heard.slice(60).filter(isSound).length).toBeGreaterThanOrEqual(39);
  }
});

test('for any mixture of loss, delay, duplicates and junk no sample is played twice and no state grows', () => {
  for (let seed = 1; seed <= 30; seed += 1) {
    const random = new SeededRandom(seed);
    const packets = stream(245).flatMap(({ index, arrivesMs }) =>
      Array.from({ length: random.below(3) }, () => ({
        index,
        arrivesMs: arrivesMs + random.below(random.pick([10, 80, 600])),
      })),
    );
    const { heard } = run(packets, 6_000);
    const sounds = heard.filter(isSound);
    expect(new Set(sounds).size).toBe(sounds.length);
  }
});

test('payloads of absurd length and random timestamps are survived', () => {
  const random = new SeededRandom(99);
  const buffer = new JitterBuffer(SILENCE.PCMA);
  const frame = new Uint8Array(FRAME_SAMPLES);
  for (let index = 0; index < 20_000; index += 1) {
    buffer.write(index, random.bytes(4).readUInt32BE(), random.bytes(random.pick([0, 1, 159, 1_500, 9_000])));
    if (random.below(2) === 0) buffer.read(frame);
  }
  expect(buffer.stats().depthMs).toBeLessThanOrEqual(MAX_DEPTH_MS);
});
