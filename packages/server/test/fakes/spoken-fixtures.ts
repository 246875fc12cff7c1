/**
 * Real speech for tests, by eSpeak NG, and its recognition by how it sounds: what a fake transcriber hears is what
 * came over the line, never what the test knows.
 */
import { decodeG711, encodeG711 } from '@trunkcall/sip';
import { findEspeak } from '../../src/agents/audio/espeak.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Law, Speech } from './fixture-speech.ts';

const espeak = await findEspeak({ clock: systemClock });
export const espeakMissing = espeak === null;
if (espeakMissing)
  process.stderr.write('SKIPPED: the tests with spoken words. To run them: apt-get install -y espeak-ng\n');

/** Samples of 16 bits, 8,000 a second, by what they say. */
export type SpokenFixtures = ReadonlyMap<string, Int16Array>;

export async function speakFixtures(texts: readonly string[], locale: string): Promise<SpokenFixtures> {
  if (espeak === null) throw new Error('espeak-ng is not installed');
  const fixtures = new Map<string, Int16Array>();
  for (const text of texts) {
    const made = await espeak.speak(text, locale);
    if (made.kind === 'failed') throw new Error(made.note);
    fixtures.set(text, made.pcm);
  }
  return fixtures;
}

/** The voice and the ear of a fake provider that knows these sentences; what it says may be several of them. */
export function speechOfFixtures(fixtures: SpokenFixtures): Speech {
  const codecOf = (law: Law) => (law === 'mu' ? 'PCMU' : 'PCMA');
  return {
    of: (text, law) => encodeG711(codecOf(law), samplesOf(text, fixtures)),
    recognise(audio, law, texts) {
      const known = new Map([...fixtures].filter(([text]) => texts.includes(text)));
      return recognise(decodeG711(codecOf(law), audio), known, likenessOnALine) || null;
    },
  };
}

/** The samples of a text that is made of fixtures, one after the other. */
export function samplesOf(text: string, fixtures: SpokenFixtures): Int16Array {
  const parts: Int16Array[] = [];
  for (let rest = text.trim(); rest !== '';) {
    const next = [...fixtures.keys()].find((known) => rest.startsWith(known));
    if (next === undefined) throw new Error(`nobody has spoken: ${rest}`);
    parts.push(fixtures.get(next) ?? new Int16Array());
    rest = rest.slice(next.length).trim();
  }
  const samples = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    samples.set(part, at);
    at += part.length;
  }
  return samples;
}

/** Frames of 10 ms. */
const step = 80;
const likeness = 0.8;
export const likenessOnALine = 0.45;

/** The fixture that the sound holds; empty when it holds none. A line that loses packets wants less likeness. */
export function recognise(sound: Int16Array, fixtures: SpokenFixtures, least = likeness): string {
  const heard = envelope(sound);
  let best = { text: '', score: least };
  for (const [text, fixture] of fixtures) {
    const score = bestMatch(heard, envelope(fixture));
    if (score > best.score) best = { text, score };
  }
  return best.text;
}

/** Decibels of loudness by 10 ms, without what is silent before and after. */
function envelope(samples: Int16Array): number[] {
  const levels = Array.from({ length: Math.floor(samples.length / step) }, (_, at) => {
    const frame = samples.subarray(at * step, (at + 1) * step);
    return 10 * Math.log10(1_000 + frame.reduce((sum, sample) => sum + sample * sample, 0) / step);
  });
  const loud = (level: number) => level > 45;
  const from = levels.findIndex(loud);
  return from < 0 ? [] : levels.slice(from, levels.findLastIndex(loud) + 1);
}

/** Correlation at the best of the lags up to 150 ms, for sounds of about the same length. */
function bestMatch(a: readonly number[], b: readonly number[]): number {
  if (a.length === 0 || Math.abs(a.length - b.length) > 0.25 * b.length + 10) return 0;
  let best = 0;
  for (let lag = -15; lag <= 15; lag += 1) best = Math.max(best, correlation(a, b, lag));
  return best;
}

function correlation(a: readonly number[], b: readonly number[], lag: number): number {
  const pairs: [number, number][] = [];
  for (const [at, level] of b.entries()) {
    const other = a[at + lag];
    if (other !== undefined) pairs.push([other, level]);
  }
  if (pairs.length < 0.7 * b.length) return 0;
  const mean = (side: 0 | 1) => pairs.reduce((sum, pair) => sum + pair[side], 0) / pairs.length;
  const [meanA, meanB] = [mean(0), mean(1)];
  let [ab, aa, bb] = [0, 0, 0];
  for (const [x, y] of pairs) {
    ab += (x - meanA) * (y - meanB);
    aa += (x - meanA) ** 2;
    bb += (y - meanB) ** 2;
  }
  return aa === 0 || bb === 0 ? 0 : ab / Math.sqrt(aa * bb);
}
