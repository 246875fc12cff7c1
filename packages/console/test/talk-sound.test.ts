/** The arithmetic of the browser's end of a line, without a browser. */
import { describe, expect, test } from 'vitest';
import { fromMuLaw, toMuLaw } from '../app/talk/mu-law.ts';
import { PlayOut } from '../app/talk/play-out.ts';
import { Resampler } from '../app/talk/resampler.ts';

const tone = (hertz: number, rate: number, seconds = 1): Float32Array =>
  Float32Array.from({ length: rate * seconds }, (_, at) => Math.sin((2 * Math.PI * hertz * at) / rate) / 2);

/** In pieces of 128 samples, as the audio thread gives them. */
function resampled(samples: Float32Array, from: number, to: number): Float32Array {
  const resampler = new Resampler(from, to);
  const pieces: number[] = [];
  for (let at = 0; at < samples.length; at += 128)
    pieces.push(...resampler.next(samples.subarray(at, at + 128)));
  return Float32Array.from(pieces);
}

const loudness = (samples: Float32Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);

/** Decibels of what is left of a tone in its middle. */
function left(hertz: number, from: number, to: number): number {
  const made = resampled(tone(hertz, from), from, to);
  return 20 * Math.log10(loudness(made.subarray(to / 4, (to * 3) / 4)) / loudness(tone(hertz, from)));
}

describe.each([48_000, 44_100, 16_000])('a microphone of %i samples a second', (rate) => {
  test('gives a line 8,000, and keeps what a telephone carries', () => {
    const made = resampled(tone(1_000, rate), rate, 8_000);
    expect(Math.abs(made.length - 8_000)).toBeLessThan(100);
    for (const hertz of [300, 1_000, 2_000, 3_400])
      expect(Math.abs(left(hertz, rate, 8_000))).toBeLessThan(0.5);
  });

  test('and what the line can not carry is gone, not folded back', () => {
    for (const hertz of [4_600, 5_000, 6_000, 7_000]) expect(left(hertz, rate, 8_000)).toBeLessThan(-55);
  });

  test('what comes from the line has no images of itself above it', () => {
    const made = resampled(tone(1_000, 8_000), 8_000, rate);
    expect(
      Math.abs(20 * Math.log10(loudness(made.subarray(rate / 4)) / loudness(tone(1_000, rate)))),
    ).toBeLessThan(0.5);
    // Without its own frequency, almost nothing is there.
    const rest = without(1_000, rate, made.subarray(rate / 4, (rate * 3) / 4));
    expect(20 * Math.log10(loudness(rest) / loudness(made.subarray(rate / 4)))).toBeLessThan(-45);
  });
});

/** The samples without a tone: what a fit of its sine and cosine leaves. */
function without(hertz: number, rate: number, samples: Float32Array): Float32Array {
  const wave = (shift: number) => (at: number) => Math.sin((2 * Math.PI * hertz * at) / rate + shift);
  const parts = [wave(0), wave(Math.PI / 2)].map((each) => {
    const fit = samples.reduce((sum, sample, at) => sum + sample * each(at), 0) / (samples.length / 2);
    return (at: number) => fit * each(at);
  });
  return samples.map((sample, at) => sample - parts.reduce((sum, part) => sum + part(at), 0));
}

test('µ-law is that of ITU-T G.711', () => {
  const loudest = 32_124 / 32_768;
  const known: [number, number][] = [
    [0, 0xff],
    [loudest, 0x80],
    [-loudest, 0x00],
    [1, 0x80],
    [-1, 0x00],
    [132 / 32_768, 0xef],
    [-132 / 32_768, 0x6f],
  ];
  expect(known.map(([sample]) => toMuLaw(sample))).toEqual(known.map(([, code]) => code));
  const codes = Array.from({ length: 256 }, (_, code) => code);
  // There are two codes of silence; one is used.
  expect(codes.map((code) => toMuLaw(fromMuLaw(code)))).toEqual(codes.with(0x7f, 0xff));
});

describe('sound on its way to the loudspeaker', () => {
  const piece = (value: number, length = 50) => new Float32Array(length).fill(value);
  const filled = (out: PlayOut, length: number, flush = false) => {
    const output = new Float32Array(length);
    out.play(output, flush);
    return [...output];
  };

  test('is held back until there is enough, then comes without a gap', () => {
    const out = new PlayOut(100, 1_000);
    out.push(piece(1));
    expect(filled(out, 10)).toEqual([...piece(0, 10)]);
    out.push(piece(2));
    expect(filled(out, 60)).toEqual([...piece(1), ...piece(2, 10)]);
    expect(filled(out, 60)).toEqual([...piece(2, 40), ...piece(0, 20)]);
    out.push(piece(3));
    expect(filled(out, 10)).toEqual([...piece(0, 10)]);
  });

  test('a short word is held back no longer than a long one, and the last words not at all', () => {
    const out = new PlayOut(100, 1_000);
    out.push(piece(1));
    expect(filled(out, 60)).toEqual([...piece(0, 60)]);
    expect(filled(out, 60)).toEqual([...piece(1), ...piece(0, 10)]);
    out.push(piece(2));
    expect(filled(out, 60, true)).toEqual([...piece(2), ...piece(0, 10)]);
  });

  test('an interruption drops all of it', () => {
    const out = new PlayOut(100, 1_000);
    out.push(piece(1, 500));
    filled(out, 10);
    out.clear();
    expect(filled(out, 200)).toEqual([...piece(0, 200)]);
  });

  test('is bounded: the oldest goes first', () => {
    const out = new PlayOut(100, 200);
    for (const value of [1, 2, 3, 4, 5, 6]) out.push(piece(value));
    expect(filled(out, 200)).toEqual([3, 4, 5, 6].flatMap((value) => [...piece(value)]));
  });
});
