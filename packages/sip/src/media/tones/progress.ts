/**
 * What the network tells with tones before or instead of an answer (ITU-T E.180, E.182).
 *
 * - Ringback: a low tone of about a second (or two short ones, as in Britain), then a pause of at least 0.9 s.
 * - Busy and congestion: the same short tone, on and off for equal times, three times over.
 * - SIT: three rising tones of about a third of a second, near 950, 1400 and 1800 Hz, before an announcement.
 *
 * Low tones differ from country to country (400, 425, 440, 480, 620 Hz, one or two at a time); the cadence does not,
 * so it decides.
 */

import { FRAME_MS } from '../g711.ts';
import { coefficient, findPureTone, share } from './goertzel.ts';

export type ProgressTone = 'ringback' | 'busy' | 'special_information';

const LOW_FACTORS = [400, 425, 450, 480, 620].map(coefficient);
/** Neighbours overlap within a 20 ms window, so the shares of a low tone add up to more than this. */
const MIN_LOW_SHARE = 0.75;
const MIN_PURITY = 0.8;
/** The three steps of a SIT, each with its band in Hz. */
const SIT_BANDS = [
  [880, 1_020],
  [1_340, 1_460],
  [1_740, 1_820],
] as const;
const SIT_MIN_MS = 200;
/** Frames between two steps that may be a mixture of both, or silent. */
const SIT_GAP_FRAMES = 3;

const RING_MIN_MS = 300;
const RING_PAUSE_MS = 900;
const BUSY_MIN_MS = 160;
const BUSY_MAX_MS = 800;
const BUSY_PERIODS = 3;
/** How much on and off times of a busy tone may differ, as frames fall differently on the edges. */
const BUSY_SLACK_MS = 80;

const ODD_FRAMES = 2;

type Sound = 'low' | 'sit' | 'other' | 'none';

/** Finds SIT alone. */
export class InformationToneDetector {
  #step = 0;
  #stepMs = 0;
  #gap = 0;
  #sounding = false;

  /** The last frame was one of the three tones. */
  get sounding(): boolean {
    return this.#sounding;
  }

  /** The first tones have come, and the next may follow. */
  get begun(): boolean {
    return this.#stepMs > 0;
  }

  /** Takes consecutive 20 ms frames; `energy` is undefined for a silent one. True once, in the third tone. */
  next(samples: Int16Array, energy: number | undefined): boolean {
    const step = energy === undefined ? undefined : sitPitch(samples, energy);
    this.#sounding = step !== undefined;
    if (step !== undefined) return this.#sound(step);
    this.#gap += 1;
    if (this.#gap > SIT_GAP_FRAMES) this.#step = this.#stepMs = 0;
    return false;
  }

  #sound(step: number): boolean {
    this.#gap = 0;
    if (step === this.#step) this.#stepMs += FRAME_MS;
    else if (step === this.#step + 1 && this.#stepMs >= SIT_MIN_MS)
      [this.#step, this.#stepMs] = [step, FRAME_MS];
    else [this.#step, this.#stepMs] = [0, step === 0 ? FRAME_MS : 0];
    if (this.#step !== SIT_BANDS.length - 1 || this.#stepMs !== SIT_MIN_MS) return false;
    [this.#step, this.#stepMs] = [0, 0];
    return true;
  }
}

export class ProgressDetector {
  #sound: Sound = 'none';
  #soundMs = 0;
  #oddFrames = 0;
  #onMs = 0;
  #busyPeriods = 0;
  readonly #sit = new InformationToneDetector();
  /** A ringback is told once per ring. */
  #ringTold = false;

  /** Takes consecutive 20 ms frames; `energy` is undefined for a silent one. */
  next(samples: Int16Array, energy: number | undefined): ProgressTone | undefined {
    const whole = this.#sit.next(samples, energy);
    if (this.#sit.sounding) {
      this.#sound = 'sit';
      this.#soundMs = 0;
      return whole ? 'special_information' : undefined;
    }
    const sound = this.#settle(energy === undefined ? 'none' : isLow(samples, energy) ? 'low' : 'other');
    const found = sound === this.#sound ? undefined : this.#change(sound);
    this.#soundMs += FRAME_MS;
    return found ?? this.#ring();
  }

  /** The frame on which a tone begins or ends is neither tone nor silence: few of those are taken as what was before. */
  #settle(sound: Sound): Sound {
    this.#oddFrames = sound === 'other' ? this.#oddFrames + 1 : 0;
    return this.#oddFrames > 0 && this.#oddFrames <= ODD_FRAMES ? this.#sound : sound;
  }

  /** The sound before is over: a tone and the pause behind it make a period. */
  #change(sound: Sound): ProgressTone | undefined {
    const lasted = this.#soundMs;
    const before = this.#sound;
    this.#sound = sound;
    this.#soundMs = 0;
    if (sound === 'other') this.#busyPeriods = 0;
    if (before === 'low') {
      this.#onMs = lasted;
      this.#ringTold = false;
    }
    if (before !== 'none' || sound !== 'low') return undefined;
    const even =
      this.#onMs >= BUSY_MIN_MS &&
      this.#onMs <= BUSY_MAX_MS &&
      Math.abs(this.#onMs - lasted) <= BUSY_SLACK_MS;
    this.#busyPeriods = even ? this.#busyPeriods + 1 : 0;
    return this.#busyPeriods === BUSY_PERIODS ? 'busy' : undefined;
  }

  #ring(): ProgressTone | undefined {
    if (this.#sound !== 'none' || this.#ringTold || this.#busyPeriods > 0) return undefined;
    if (this.#onMs < RING_MIN_MS || this.#soundMs < RING_PAUSE_MS) return undefined;
    this.#ringTold = true;
    return 'ringback';
  }
}

function isLow(samples: Int16Array, energy: number): boolean {
  return LOW_FACTORS.reduce((sum, factor) => sum + share(samples, factor, energy), 0) >= MIN_LOW_SHARE;
}

/** Which step of a SIT the frame is, if it is one. */
function sitPitch(samples: Int16Array, energy: number): number | undefined {
  const tone = findPureTone(samples, energy);
  if (tone === undefined || tone.purity < MIN_PURITY) return undefined;
  const step = SIT_BANDS.findIndex(([low, high]) => tone.frequency >= low && tone.frequency <= high);
  return step < 0 ? undefined : step;
}
