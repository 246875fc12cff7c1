import { expect, test } from 'vitest';
import { decodeG711, encodeG711, FRAME_SAMPLES, SILENCE, transcodeG711 } from '../../src/media/g711.ts';
import { idleFrame } from '../../src/media/comfort-noise.ts';

const CODES = Uint8Array.from({ length: 256 }, (_, code) => code);
const SAMPLES = Int16Array.from({ length: 65_536 }, (_, index) => index - 32_768);

/** G.711 table 2 as logarithms: 16 equal steps in each segment of biased 14-bit magnitude [33·2^e, 33·2^(e+1)). */
function ulawByFormula(sample: number): number {
  const magnitude = Math.min(8_158, (sample < 0 ? -sample - 1 : sample) >> 2) + 33;
  const segment = Math.floor(Math.log2(magnitude)) - 5;
  const step = Math.floor(magnitude / 2 ** (segment + 1)) - 16;
  return 0xff - (segment * 16 + step) - (sample < 0 ? 128 : 0);
}

/** G.711 table 1: the first two segments have the same steps; even bits are inverted. */
function alawByFormula(sample: number): number {
  const magnitude = (sample < 0 ? -sample - 1 : sample) >> 4;
  const segment = magnitude < 32 ? Math.floor(magnitude / 16) : Math.floor(Math.log2(magnitude)) - 3;
  const step = Math.floor(magnitude / 2 ** Math.max(0, segment - 1)) % 16;
  return (segment * 16 + step + (sample < 0 ? 0 : 128)) ^ 0x55;
}

test('every 16-bit sample gets the code that the formula of the recommendation gives', () => {
  expect(encodeG711('PCMU', SAMPLES)).toEqual(Uint8Array.from(SAMPLES, ulawByFormula));
  expect(encodeG711('PCMA', SAMPLES)).toEqual(Uint8Array.from(SAMPLES, alawByFormula));
});

test('decoding and encoding again gives every code back, but for the negative zero of µ-law', () => {
  expect(encodeG711('PCMA', decodeG711('PCMA', CODES))).toEqual(CODES);
  const expected = CODES.map((code) => (code === 0x7f ? 0xff : code));
  expect(encodeG711('PCMU', decodeG711('PCMU', CODES))).toEqual(expected);
});

test.each(['PCMU', 'PCMA'] as const)('%s decodes to within half a step of the sample', (codec) => {
  const decoded = decodeG711(codec, encodeG711(codec, SAMPLES));
  for (const [index, sample] of SAMPLES.entries()) {
    const magnitude = Math.min(Math.abs(sample), codec === 'PCMU' ? 32_124 : 32_256);
    const step = Math.max(16, 2 ** Math.floor(Math.log2(magnitude + 132)) / 16);
    expect(Math.abs((decoded[index] ?? 0) - Math.sign(sample) * magnitude)).toBeLessThanOrEqual(step);
  }
});

test('the extremes are those of the recommendation', () => {
  expect([...decodeG711('PCMU', Uint8Array.of(0x00, 0x80, 0xff))]).toEqual([-32_124, 32_124, 0]);
  expect([...decodeG711('PCMA', Uint8Array.of(0x2a, 0xaa, 0xd5))]).toEqual([-32_256, 32_256, 8]);
});

test('one law becomes the other within the coarser step, and itself unchanged', () => {
  const there = transcodeG711('PCMU', 'PCMA', encodeG711('PCMU', SAMPLES));
  const back = decodeG711('PCMA', there);
  const loudest = [...SAMPLES.entries()].filter(([, sample]) => Math.abs(sample) > 1_000);
  for (const [index, sample] of loudest) {
    expect(Math.abs((back[index] ?? 0) / sample - 1)).toBeLessThan(0.08);
  }
  expect(transcodeG711('PCMA', 'PCMA', CODES)).toEqual(CODES);
});

test.each(['PCMU', 'PCMA'] as const)('%s idles in silence or in noise below -55 dBm0', (codec) => {
  expect(idleFrame('silence', codec, 7)).toEqual(new Uint8Array(FRAME_SAMPLES).fill(SILENCE[codec]));
  const heard = Array.from({ length: 50 }, (_, tick) => [
    ...decodeG711(codec, idleFrame('comfort_noise', codec, tick)),
  ]).flat();
  const rms = Math.sqrt(heard.reduce((sum, sample) => sum + sample * sample, 0) / heard.length);
  expect(rms).toBeGreaterThan(4);
  expect(rms).toBeLessThan(40);
  expect(idleFrame('comfort_noise', codec, 0)).not.toEqual(idleFrame('comfort_noise', codec, 1));
});
