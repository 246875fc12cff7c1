/**
 * The beep of an answering machine: one steady sine of any pitch, then silence. Speech and music hardly ever keep
 * one pure frequency for this long.
 */

import { FRAME_MS } from '../g711.ts';
import { findPureTone } from './goertzel.ts';

const LOWEST_HZ = 350;
const HIGHEST_HZ = 2_600;
const MIN_PURITY = 0.85;
/** How far the pitch may wander from frame to frame, as a share. */
const MAX_WANDER = 0.03;
const MIN_FRAMES = 120 / FRAME_MS;
const MAX_FRAMES = 4_000 / FRAME_MS;

export interface Beep {
  readonly frequency: number;
  readonly durationMs: number;
}

export class BeepDetector {
  #frequency = 0;
  #frames = 0;

  /** Takes consecutive 20 ms frames; `energy` is undefined for a silent one. Returns a beep when it is over. */
  next(samples: Int16Array, energy: number | undefined): Beep | undefined {
    const tone = energy === undefined ? undefined : findPureTone(samples, energy);
    const pure =
      tone !== undefined &&
      tone.purity >= MIN_PURITY &&
      tone.frequency >= LOWEST_HZ &&
      tone.frequency <= HIGHEST_HZ;
    if (pure && this.#frames > 0 && Math.abs(tone.frequency / this.#frequency - 1) <= MAX_WANDER) {
      this.#frames += 1;
      return undefined;
    }
    const over = this.#over();
    this.#frames = pure ? 1 : 0;
    this.#frequency = tone?.frequency ?? 0;
    return over;
  }

  #over(): Beep | undefined {
    if (this.#frames < MIN_FRAMES || this.#frames > MAX_FRAMES) return undefined;
    return { frequency: Math.round(this.#frequency), durationMs: this.#frames * FRAME_MS };
  }
}
