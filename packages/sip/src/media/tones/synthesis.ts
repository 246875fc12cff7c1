/** Sines for in-band key tones and for whoever needs a test signal. */

const RATE = 8_000;

/** `samples` of the sum of sines, each with peak `amplitude` (of 32,767), beginning at sample `from`. */
export function sines(
  frequencies: readonly number[],
  samples: number,
  amplitude = 5_000,
  from = 0,
): Int16Array {
  const angles = frequencies.map((frequency) => (2 * Math.PI * frequency) / RATE);
  return Int16Array.from({ length: samples }, (_, at) =>
    Math.round(amplitude * angles.reduce((sum, angle) => sum + Math.sin(angle * (from + at)), 0)),
  );
}
