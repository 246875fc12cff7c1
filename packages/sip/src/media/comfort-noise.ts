/** What is sent when there is nothing to say. */

import type { Codec } from '../sdp/negotiate.ts';
import { encodeG711, FRAME_SAMPLES, SILENCE } from './g711.ts';

/** Peak of the noise: about -62 dBm0, just audible, so that the line does not sound dead. */
const AMPLITUDE = 24;
/** One second of noise is repeated; nobody hears the seam. */
const FRAMES = 50;
const SEED = 0x2545f491;

export type IdleSound = 'silence' | 'comfort_noise';

/** Frames of white noise, the same for every call of a codec; linear congruential, for its sound does not matter. */
function makeNoise(codec: Codec): readonly Uint8Array[] {
  let state = SEED;
  const samples = Int16Array.from({ length: FRAMES * FRAME_SAMPLES }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.round((state / 2 ** 31 - 1) * AMPLITUDE);
  });
  const codes = encodeG711(codec, samples);
  return Array.from({ length: FRAMES }, (_, index) =>
    codes.subarray(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES),
  );
}

const noise: Readonly<Record<Codec, readonly Uint8Array[]>> = {
  PCMU: makeNoise('PCMU'),
  PCMA: makeNoise('PCMA'),
};

const silence: Readonly<Record<Codec, Uint8Array>> = {
  PCMU: new Uint8Array(FRAME_SAMPLES).fill(SILENCE.PCMU),
  PCMA: new Uint8Array(FRAME_SAMPLES).fill(SILENCE.PCMA),
};

/** The frame of the idle sound for a tick, counted from any origin. Shared: never write into it. */
export function idleFrame(sound: IdleSound, codec: Codec, tick: number): Uint8Array {
  return (sound === 'silence' ? undefined : noise[codec][tick % FRAMES]) ?? silence[codec];
}
