/** Power of single frequencies in a short piece of audio (Goertzel's algorithm), 8,000 samples a second. */

const RATE = 8_000;

/** The factor of the recursion for a frequency in Hz; compute once per frequency. */
export function coefficient(frequency: number): number {
  return 2 * Math.cos((2 * Math.PI * frequency) / RATE);
}

/**
 * Share of the piece's energy at the frequency: about 1 for a pure sine there, 0 for none. `energy` is the sum of
 * squares of the samples, not zero.
 */
export function share(samples: Int16Array, factor: number, energy: number): number {
  let previous = 0;
  let beforeThat = 0;
  for (let at = 0; at < samples.length; at += 1) {
    const current = (samples[at] ?? 0) + factor * previous - beforeThat;
    beforeThat = previous;
    previous = current;
  }
  const power = previous * previous + beforeThat * beforeThat - factor * previous * beforeThat;
  return (2 * power) / (samples.length * energy);
}

export function energyOf(samples: Int16Array): number {
  let energy = 0;
  for (let at = 0; at < samples.length; at += 1) energy += (samples[at] ?? 0) ** 2;
  return energy;
}

/** Root mean square below which a piece counts as silence: -40 dBm0 (full scale is +3.14 dBm0). */
const AUDIBLE_RMS = 160;

export function isAudible(energy: number, samples: number): boolean {
  return energy > AUDIBLE_RMS ** 2 * samples;
}

export interface PureTone {
  readonly frequency: number;
  /** Share of the energy that is this one sine. */
  readonly purity: number;
}

/**
 * The frequency of the strongest sine when there is only one: a sine obeys x[n+1] + x[n-1] = 2 cos(w) x[n], so the
 * best factor in the sense of least squares tells w; Goertzel at that frequency tells how pure it is.
 */
export function findPureTone(samples: Int16Array, energy: number): PureTone | undefined {
  let product = 0;
  let square = 0;
  for (let at = 1; at < samples.length - 1; at += 1) {
    const middle = samples[at] ?? 0;
    product += middle * ((samples[at - 1] ?? 0) + (samples[at + 1] ?? 0));
    square += middle * middle;
  }
  const factor = square === 0 ? 2 : product / square;
  if (Math.abs(factor) >= 2) return undefined;
  const frequency = (Math.acos(factor / 2) * RATE) / (2 * Math.PI);
  return { frequency, purity: share(samples, factor, energy) };
}
