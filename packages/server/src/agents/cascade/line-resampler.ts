/**
 * Brings sound that comes piece by piece to the rate of the line.
 *
 * The filter looks 3 ms to both sides of a sample, so each block of 20 ms is filtered between its neighbours: the
 * output is the same as if all had come at once, 20 ms later.
 */
import { assert } from '../../platform/assert.ts';
import { lineRate, Resampler } from '../audio/resampler.ts';
import type { Pcm } from '../audio/synthesizer.ts';

const blocksPerSecond = 50;
const resamplers = new Map<number, Resampler>();

export class LineResampler {
  readonly #resampler: Resampler;
  /** Samples of a block, in and out. */
  readonly #blockIn: number;
  readonly #blockOut = lineRate / blocksPerSecond;
  /** What is not yet filtered, behind one block that is. */
  #samples: Int16Array = new Int16Array();
  #started = false;

  /** `rate` is a multiple of 50, from 8,000 to 48,000. */
  constructor(rate: number) {
    assert(rate % blocksPerSecond === 0, 'blocks of 20 ms are whole samples');
    this.#resampler = resamplers.get(rate) ?? new Resampler(rate);
    resamplers.set(rate, this.#resampler);
    this.#blockIn = rate / blocksPerSecond;
  }

  /** Takes the next samples; returns the whole blocks whose neighbours are known. */
  take(samples: Int16Array): Pcm {
    this.#samples = joined(this.#samples, samples);
    const known = Math.floor(this.#samples.length / this.#blockIn);
    const before = this.#started ? 1 : 0;
    const ready = known - before - 1;
    if (ready <= 0) return new Int16Array();
    const output = this.#filter(known * this.#blockIn, before, before + ready);
    this.#samples = this.#samples.slice((before + ready - 1) * this.#blockIn);
    this.#started = true;
    return output;
  }

  /** The rest, at the end of the sound. */
  finish(): Pcm {
    const output = this.#filter(this.#samples.length, this.#started ? 1 : 0, Infinity);
    this.#samples = new Int16Array();
    this.#started = false;
    return output;
  }

  #filter(length: number, fromBlock: number, toBlock: number): Pcm {
    const filtered = this.#resampler.run(this.#samples.subarray(0, length));
    return filtered.slice(fromBlock * this.#blockOut, toBlock * this.#blockOut);
  }
}

function joined(a: Int16Array, b: Int16Array): Int16Array {
  const both = new Int16Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
