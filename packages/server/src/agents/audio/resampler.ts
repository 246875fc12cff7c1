/**
 * From any whole rate to the 8,000 samples a second of a telephone line.
 *
 * A windowed sinc passes what the line can carry (to about 3.2 kHz) and keeps out what would fold back (from
 * 4.1 kHz on, by more than 70 dB). The ratio of the rates is rational, so few sets of weights are enough: one for
 * each place that an output sample can have between two input samples.
 */
import { assert } from '../../platform/assert.ts';
import type { Pcm } from './synthesizer.ts';

export const lineRate = 8_000;
/** The middle of the slope between what passes and what does not, Hz. */
const cutoff = 3_650;
/** Width of the window on each side, in output samples. */
const reach = 24;

export class Resampler {
  readonly rate: number;
  /** Input samples on each side of an output sample that count. */
  readonly #side: number;
  readonly #phases: readonly Float64Array[];

  /** `rate` is the input's, a whole number from 8,000 to 48,000. */
  constructor(rate: number) {
    assert(Number.isInteger(rate) && rate >= lineRate && rate <= 48_000, 'a sampling rate of speech');
    this.rate = rate;
    this.#side = Math.ceil((reach * rate) / lineRate);
    const count = lineRate / greatestCommonDivisor(rate, lineRate);
    this.#phases = Array.from({ length: count }, (_, phase) => weights(phase / count, this.#side, rate));
  }

  run(samples: Int16Array): Pcm {
    if (this.rate === lineRate) return samples;
    const output = new Int16Array(Math.floor((samples.length * lineRate) / this.rate));
    for (let at = 0; at < output.length; at += 1) {
      const place = (at * this.rate) / lineRate;
      const whole = Math.floor(place);
      const phase = this.#phases[Math.round((place - whole) * this.#phases.length)];
      assert(phase !== undefined, 'the phases repeat');
      output[at] = clipped(this.#weigh(samples, whole, phase));
    }
    return output;
  }

  #weigh(samples: Int16Array, whole: number, phase: Float64Array): number {
    let sum = 0;
    const first = whole - this.#side + 1;
    const from = Math.max(0, -first);
    const to = Math.min(phase.length, samples.length - first);
    for (let tap = from; tap < to; tap += 1) sum += (samples[first + tap] ?? 0) * (phase[tap] ?? 0);
    return sum;
  }
}

/** The weights of the input samples around a place that lies `fraction` behind the sample in the middle. */
function weights(fraction: number, side: number, rate: number): Float64Array {
  const taps = new Float64Array(2 * side);
  let sum = 0;
  for (let tap = 0; tap < taps.length; tap += 1) {
    const distance = tap - side + 1 - fraction;
    const weight = sinc((2 * cutoff * distance) / rate) * blackman(distance / side);
    taps[tap] = weight;
    sum += weight;
  }
  return taps.map((weight) => weight / sum);
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x);
}

/** One in the middle, zero from ±1 on. */
function blackman(x: number): number {
  if (Math.abs(x) >= 1) return 0;
  return 0.42 + 0.5 * Math.cos(Math.PI * x) + 0.08 * Math.cos(2 * Math.PI * x);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

function clipped(value: number): number {
  return Math.max(-32_768, Math.min(32_767, Math.round(value)));
}

/** The level of speech on a line, root mean square of 32,767: about -20 dB of full scale. */
const speechLevel = 3_200;
/** Leaves a little room below full scale. */
const highestPeak = 28_000;

/** The same sound as loud as speech should be, without clipping; silence stays silence. */
export function levelled(samples: Pcm): Pcm {
  const loudness = Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
  const peak = samples.reduce((highest, sample) => Math.max(highest, Math.abs(sample)), 0);
  if (peak === 0) return samples;
  const gain = Math.min(speechLevel / loudness, highestPeak / peak);
  return samples.map((sample) => Math.round(sample * gain));
}
