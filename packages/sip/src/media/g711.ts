/**
 * G.711: one byte per sample, 8,000 samples a second. The companding follows the integer formulation of
 * ITU-T G.191 (`ulaw_compress`, `alaw_compress`), so a code that is decoded and encoded again is the same
 * code; only µ-law's negative zero (0x7F) becomes positive zero (0xFF).
 */

import type { Codec } from '../sdp/negotiate.ts';

export const SAMPLES_PER_MS = 8;
export const FRAME_MS = 20;
/** Samples, and in G.711 also bytes, of one 20 ms frame. */
export const FRAME_SAMPLES = FRAME_MS * SAMPLES_PER_MS;

/** The code of digital silence. */
export const SILENCE: Readonly<Record<Codec, number>> = { PCMU: 0xff, PCMA: 0xd5 };

function expandUlaw(code: number): number {
  const inverted = ~code & 0xff;
  const magnitude = ((((inverted & 0x0f) << 3) + 0x84) << ((inverted & 0x70) >> 4)) - 0x84;
  return inverted & 0x80 ? -magnitude : magnitude;
}

function compressUlaw(sample: number): number {
  // 14 bits and a bias of 33 make every segment start at a power of two.
  const biased = Math.min(((sample < 0 ? ~sample : sample) >> 2) + 33, 0x1fff);
  const segment = 32 - Math.clz32(biased >> 6);
  const step = (biased >> (segment + 1)) & 0x0f;
  const code = ((7 - segment) << 4) | (0x0f - step);
  return sample < 0 ? code : code | 0x80;
}

function expandAlaw(code: number): number {
  const plain = code ^ 0x55;
  const segment = (plain & 0x70) >> 4;
  const step = (plain & 0x0f) << 4;
  const magnitude = segment === 0 ? step + 8 : (step + 0x108) << (segment - 1);
  return plain & 0x80 ? magnitude : -magnitude;
}

function compressAlaw(sample: number): number {
  const magnitude = (sample < 0 ? ~sample : sample) >> 4;
  const exponent = Math.max(0, 28 - Math.clz32(magnitude));
  const step = exponent === 0 ? magnitude : (magnitude >> (exponent - 1)) - 16;
  const plain = (exponent << 4) | step;
  return (sample < 0 ? plain : plain | 0x80) ^ 0x55;
}

/** Linear 16-bit value of each of the 256 codes. */
export const EXPANDED: Readonly<Record<Codec, Int16Array>> = {
  PCMU: Int16Array.from({ length: 256 }, (_, code) => expandUlaw(code)),
  PCMA: Int16Array.from({ length: 256 }, (_, code) => expandAlaw(code)),
};

/** Code of each 16-bit sample; index with `sample & 0xffff`. */
const COMPRESSED: Readonly<Record<Codec, Uint8Array>> = {
  PCMU: Uint8Array.from({ length: 65_536 }, (_, index) => compressUlaw((index << 16) >> 16)),
  PCMA: Uint8Array.from({ length: 65_536 }, (_, index) => compressAlaw((index << 16) >> 16)),
};

/** Linear 16-bit samples of G.711 codes; `samples` has at least as many places as there are codes. */
export function decodeG711(
  codec: Codec,
  codes: Uint8Array,
  samples = new Int16Array(codes.length),
): Int16Array {
  const table = EXPANDED[codec];
  for (let at = 0; at < codes.length; at += 1) samples[at] = table[codes[at] ?? 0] ?? 0;
  return samples;
}

/** G.711 codes of linear 16-bit samples. */
export function encodeG711(codec: Codec, samples: Int16Array): Uint8Array {
  const table = COMPRESSED[codec];
  const codes = new Uint8Array(samples.length);
  for (let at = 0; at < samples.length; at += 1) codes[at] = table[(samples[at] ?? 0) & 0xffff] ?? 0;
  return codes;
}

/** The same audio in the other law (or a copy, when both are the same). */
export function transcodeG711(from: Codec, to: Codec, codes: Uint8Array): Uint8Array {
  return from === to ? codes.slice() : encodeG711(to, decodeG711(from, codes));
}
