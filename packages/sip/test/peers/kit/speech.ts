/** Speech for calls, made by espeak-ng, and the proof that a recording has it: normalised cross-correlation. */

import { spawnSync } from 'node:child_process';
import { readMonoWav } from './wav.ts';

const RATE = 8_000;
/** The stretch of speech that is looked for at once. */
const WINDOW = 0.3 * RATE;
const WINDOWS = 3;
/** Quieter samples are pauses. */
const LOUD = 2_000;

/** Says a text; samples at 8 kHz. */
export function speak(text: string): Int16Array {
  const { stdout, status } = spawnSync('espeak-ng', ['--stdout', text], { maxBuffer: 2 ** 24 });
  if (status !== 0) throw new Error('espeak-ng did not speak');
  const { rate, samples } = readMonoWav(stdout);
  return toTelephone(samples, rate);
}

/** Down to 8 kHz; a mean over the samples that fall together is filter enough for speech. */
function toTelephone(samples: Int16Array, rate: number): Int16Array {
  const ratio = rate / RATE;
  return Int16Array.from({ length: Math.floor(samples.length / ratio) }, (_, index) => {
    const from = Math.floor(index * ratio);
    const part = samples.subarray(from, Math.floor((index + 1) * ratio));
    return part.reduce((sum, sample) => sum + sample, 0) / Math.max(1, part.length);
  });
}

/**
 * How much of `speech` is in `recording`, at whatever place: 0 to 1, where 1 is a copy at any loudness. The median
 * over the loudest stretches, so that a packet which a busy machine lost does not decide.
 */
export function likeness(speech: Int16Array, recording: Int16Array): number {
  const scores = loudest(speech).map((window) => bestMatch(window, recording).score);
  scores.sort((a, b) => a - b);
  return scores[Math.floor(scores.length / 2)] ?? 0;
}

function loudest(speech: Int16Array): Int16Array[] {
  const windows = Array.from({ length: Math.floor(speech.length / WINDOW) }, (_, index) =>
    speech.subarray(index * WINDOW, (index + 1) * WINDOW),
  );
  return windows.sort((a, b) => energy(b) - energy(a)).slice(0, WINDOWS);
}

function energy(samples: Int16Array): number {
  return samples.reduce((sum, sample) => sum + sample * sample, 0);
}

/** No other place in a recording fits as well as this. */
const SURE = 0.97;

/** The highest correlation coefficient over all places, or the first that leaves no doubt, and where that is. */
function bestMatch(
  window: Int16Array,
  recording: Int16Array,
): { readonly score: number; readonly at: number } {
  const own = energy(window);
  let there = energy(recording.subarray(0, window.length));
  let best = { score: 0, at: 0 };
  for (let at = 0; best.score < SURE && at + window.length <= recording.length; at += 1) {
    let product = 0;
    for (let index = 0; index < window.length; index += 1)
      product += (window[index] ?? 0) * (recording[at + index] ?? 0);
    const score = there > 0 ? product / Math.sqrt(own * there) : 0;
    if (score > best.score) best = { score, at };
    there += (recording[at + window.length] ?? 0) ** 2 - (recording[at] ?? 0) ** 2;
  }
  return best;
}

/** A stretch that is compared as one, how alike it must be, and how far from its place it may be found. */
const PART = 0.1 * RATE;
const ALIKE = 0.7;
const SHIFT = 0.06 * RATE;
/** So many stretches in a row may be lost on a busy machine; behind more of them nothing is heard any more. */
const LOST = 3;

/** How much of a speech, from its beginning on, is in a recording, milliseconds: 0 when not even its first words are. */
export function heardMs(speech: Int16Array, recording: Int16Array): number {
  const first = speech.findIndex((sample) => Math.abs(sample) > LOUD);
  const found = bestMatch(speech.subarray(first, first + WINDOW), recording);
  if (found.score < ALIKE) return 0;
  let shift = found.at - first;
  let heard = first + WINDOW;
  for (let at = heard; at < speech.length && at - heard < LOST * PART; at += PART) {
    const part = speech.subarray(at, at + PART);
    const isQuiet = part.every((sample) => Math.abs(sample) <= LOUD);
    const from = Math.max(0, at + shift - SHIFT);
    const { score, at: place } = bestMatch(part, recording.subarray(from, at + shift + PART + SHIFT));
    if (!isQuiet && score < ALIKE) continue;
    if (!isQuiet) shift = from + place - at;
    heard = at + PART;
  }
  return (Math.min(heard, speech.length) / RATE) * 1_000;
}
