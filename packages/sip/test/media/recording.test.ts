import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeG711, FRAME_SAMPLES } from '../../src/media/g711.ts';
import { Recording, WAV_HEADER_BYTES } from '../../src/media/recording.ts';
import { readWav } from './kit/wav.ts';

let folder: string;
beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'recording-'))));
afterAll(() => rm(folder, { recursive: true }));

const left = (index: number): Uint8Array => new Uint8Array(FRAME_SAMPLES).fill(index % 256);
const right = (index: number): Uint8Array => new Uint8Array(FRAME_SAMPLES).fill((index * 3) % 256);

function record(recording: Recording, frames: number): void {
  for (let index = 0; index < frames; index += 1) recording.add('PCMU', left(index), right(index));
}

test('the file holds what was heard on the left and what was sent on the right, to the sample', async () => {
  const path = join(folder, 'both.wav');
  const recording = new Recording(path, 60_000);
  record(recording, 137);
  expect(await recording.stop()).toEqual({ reason: 'stopped', durationMs: 137 * 20 });
  const wav = readWav(await readFile(path));
  expect(wav).toMatchObject({ format: 1, channels: 2, rate: 8_000, bits: 16 });
  const all = (make: (index: number) => Uint8Array): number[] =>
    Array.from({ length: 137 }, (_, index) => [...decodeG711('PCMU', make(index))]).flat();
  expect(wav.left).toEqual(all(left));
  expect(wav.right).toEqual(all(right));
});

test('it ends by itself at its limit', async () => {
  const path = join(folder, 'limit.wav');
  const recording = new Recording(path, 1_500);
  record(recording, 500);
  expect(await recording.ended).toEqual({ reason: 'limit', durationMs: 2_000 });
  expect((await readFile(path)).length).toBe(WAV_HEADER_BYTES + 64_000);
});

test('without an end the header tells of all but the last ten seconds', async () => {
  const path = join(folder, 'crash.wav');
  const recording = new Recording(path, 600_000);
  record(recording, 1_049);
  const length = async (): Promise<number> => (await readFile(path)).readUInt32LE(40);
  for (let tries = 0; (await length()) < 640_000; tries += 1) expect(tries).toBeLessThan(10_000);
  expect(readWav(await readFile(path)).left.length).toBe(160_000);
  await recording.stop();
});

test('a file that can not be opened is told, and nothing else happens', async () => {
  const recording = new Recording(join(folder, 'missing', 'file.wav'), 60_000);
  record(recording, 100);
  expect(await recording.ended).toEqual({ reason: 'disk_failed', durationMs: 0 });
  record(recording, 100);
  expect(await recording.stop()).toEqual({ reason: 'disk_failed', durationMs: 0 });
});

test('a full disk ends the recording', async () => {
  const recording = new Recording('/dev/full', 60_000);
  record(recording, 100);
  expect(await recording.ended).toMatchObject({ reason: 'disk_failed' });
});

test('a disk that does not keep up ends the recording instead of filling the memory', async () => {
  const recording = new Recording(join(folder, 'slow.wav'), 3_600_000);
  // No turn of the event loop in between: the disk gets no chance.
  record(recording, 50 * 60);
  expect(await recording.ended).toMatchObject({ reason: 'disk_too_slow', durationMs: 29_000 });
});
