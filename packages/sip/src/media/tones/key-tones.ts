/** In-band key tones (ITU-T Q.23, Q.24): two sines, one of each group, for at least 40 ms. */

import { FRAME_MS } from '../g711.ts';
import type { KeyPress } from '../telephone-events.ts';
import { coefficient, share } from './goertzel.ts';
import { sines } from './synthesis.ts';

const ROWS = [697, 770, 852, 941] as const;
const COLUMNS = [1209, 1336, 1477, 1633] as const;
const LAYOUT = '123A456B789C*0#D';
const ROW_FACTORS = ROWS.map(coefficient);
const COLUMN_FACTORS = COLUMNS.map(coefficient);

/** The two tones together carry this share of all energy; speech does not. */
const MIN_SHARE = 0.75;
/** Neither tone is weaker than the other by more than 8 dB (Q.24). */
const MAX_TWIST = 6.3;
const MIN_FRAMES = 2;

/** The sound of a key: `samples` of it, beginning at sample `from` of the press. */
export function keyTone(key: string, samples: number, from: number): Int16Array {
  const place = LAYOUT.indexOf(key);
  const frequencies = [ROWS[place >> 2] ?? ROWS[0], COLUMNS[place & 3] ?? COLUMNS[0]];
  return sines(frequencies, samples, 5_000, from);
}

function strongest(samples: Int16Array, factors: readonly number[], energy: number): [number, number] {
  let best = 0;
  let index = 0;
  for (const [at, factor] of factors.entries()) {
    const found = share(samples, factor, energy);
    if (found > best) [best, index] = [found, at];
  }
  return [index, best];
}

function keyIn(samples: Int16Array, energy: number): string | undefined {
  const [row, rowShare] = strongest(samples, ROW_FACTORS, energy);
  const [column, columnShare] = strongest(samples, COLUMN_FACTORS, energy);
  if (rowShare + columnShare < MIN_SHARE) return undefined;
  const twist = Math.max(rowShare, columnShare) / Math.min(rowShare, columnShare);
  return twist > MAX_TWIST ? undefined : LAYOUT[row * 4 + column];
}

/** Finds key presses in consecutive 20 ms frames. */
export class KeyToneDetector {
  #key: string | undefined;
  #frames = 0;

  /** `energy` is undefined for a silent frame. Returns a press when it is over. */
  next(samples: Int16Array, energy: number | undefined): KeyPress | undefined {
    const key = energy === undefined ? undefined : keyIn(samples, energy);
    if (key === this.#key) {
      this.#frames += 1;
      return undefined;
    }
    const over =
      this.#key !== undefined && this.#frames >= MIN_FRAMES
        ? { key: this.#key, durationMs: this.#frames * FRAME_MS }
        : undefined;
    this.#key = key;
    this.#frames = 1;
    return over;
  }
}
