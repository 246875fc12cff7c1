/**
 * Speech for tests without a voice: every text has its own noise, and whoever knows the texts can tell which one a
 * sound is by correlation, as one would with recordings.
 */
import { createHash } from 'node:crypto';
import { decodeG711, encodeG711, FRAME_SAMPLES } from '@trunkcall/sip';

export type Law = 'mu' | 'a';

/** How a fake provider speaks, and tells what it hears. */
export interface Speech {
  of(text: string, law: Law): Uint8Array;
  /** Which of the texts the sound is; null when none. */
  recognise(audio: Uint8Array, law: Law, texts: readonly string[]): string | null;
}

/** So long a character takes, in samples of 8,000 a second. */
const samplesPerCharacter = 480;
const loudness = 6_000;
/** As much of a recording as is compared. */
const comparedSamples = 2_400;
const certain = 0.6;

const codecOf = (law: Law) => (law === 'mu' ? 'PCMU' : 'PCMA');

/** 60 ms a character, whole frames. */
export function speechOf(text: string, law: Law): Uint8Array {
  return encodeG711(codecOf(law), samplesOf(text));
}

/** Which of the texts begins in the sound; null when none does. */
export function recognise(audio: Uint8Array, law: Law, texts: readonly string[]): string | null {
  const heard = samplesIn(audio, law);
  let best: { readonly text: string; readonly score: number } | null = null;
  for (const text of texts) {
    const score = bestCorrelation(heard, samplesOf(text).subarray(0, comparedSamples));
    if (score >= certain && score > (best?.score ?? 0)) best = { text, score };
  }
  return best?.text ?? null;
}

/** Root mean square of a frame. */
export function loudnessOf(frame: Uint8Array, law: Law): number {
  const samples = samplesIn(frame, law);
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length));
}

export function silence(law: Law): Uint8Array {
  return encodeG711(codecOf(law), new Int16Array(FRAME_SAMPLES));
}

function samplesIn(audio: Uint8Array, law: Law): Int16Array {
  return decodeG711(codecOf(law), audio, new Int16Array(audio.length));
}

export const noiseSpeech: Speech = { of: speechOf, recognise };

const made = new Map<string, Int16Array>();

function samplesOf(text: string): Int16Array {
  const known = made.get(text);
  if (known !== undefined) return known;
  const frames = Math.ceil((text.length * samplesPerCharacter) / FRAME_SAMPLES);
  let state = createHash('sha1').update(text).digest().readUInt32LE(0);
  const samples = Int16Array.from({ length: frames * FRAME_SAMPLES }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return loudness * (state / 2_147_483_648 - 1);
  });
  made.set(text, samples);
  return samples;
}

function bestCorrelation(heard: Int16Array, recording: Int16Array): number {
  let best = 0;
  for (let lag = 0; lag + recording.length <= heard.length; lag += FRAME_SAMPLES) {
    let product = 0;
    let energyHeard = 1;
    let energy = 1;
    for (let at = 0; at < recording.length; at += 1) {
      const a = heard[lag + at] ?? 0;
      const b = recording[at] ?? 0;
      product += a * b;
      energyHeard += a * a;
      energy += b * b;
    }
    best = Math.max(best, product / Math.sqrt(energyHeard * energy));
  }
  return best;
}
