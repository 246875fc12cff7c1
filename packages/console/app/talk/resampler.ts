/**
 * Changes the rate of a stream of samples, with a low-pass at the lower of the two rates: what a telephone line can
 * not carry must be gone before it would be folded back into what it can.
 *
 * A windowed sinc (Blackman) of `lobes` zero crossings to each side; frequencies above 1.1 of half the lower rate are
 * at least 60 dB down.
 */

const lobes = 24;
/** The kernel is looked up at so many places between two samples. */
const places = 480;
/** Where the low-pass begins, as a part of half the lower rate. */
const passes = 0.92;

export class Resampler {
  readonly #kernel: Float32Array;
  /** Samples of the input on each side that one sample of the output is made of. */
  readonly #reach: number;
  /** Samples of the input for one of the output. */
  readonly #step: number;
  /** What is still needed of the input; begins `#reach` before the place of the next sample of the output. */
  #input: Float32Array;
  /** Place of the next sample of the output in `#input`. */
  #place: number;

  constructor(fromRate: number, toRate: number) {
    this.#step = fromRate / toRate;
    const stretch = Math.max(1, this.#step);
    this.#reach = Math.ceil(lobes * stretch);
    this.#kernel = kernelOf(this.#reach, passes / stretch);
    this.#input = new Float32Array(this.#reach);
    this.#place = this.#reach;
  }

  /** The samples that can be made now; the others come with what follows. */
  next(samples: Float32Array): Float32Array {
    const input = new Float32Array(this.#input.length + samples.length);
    input.set(this.#input);
    input.set(samples, this.#input.length);
    const count = Math.max(0, Math.ceil((input.length - this.#reach - this.#place) / this.#step));
    const output = Float32Array.from({ length: count }, (_, at) =>
      this.#at(input, this.#place + at * this.#step),
    );
    this.#place += count * this.#step;
    const used = Math.floor(this.#place) - this.#reach;
    this.#input = input.slice(used);
    this.#place -= used;
    return output;
  }

  #at(input: Float32Array, place: number): number {
    const first = Math.ceil(place) - this.#reach;
    const last = Math.floor(place) + this.#reach;
    let sum = 0;
    for (let at = first; at <= last; at += 1) {
      const distance = Math.round(Math.abs(place - at) * places);
      sum += (input[at] ?? 0) * (this.#kernel[distance] ?? 0);
    }
    return sum;
  }
}

/** One half of the kernel, from its middle; `cutoff` is a part of half the input's rate. */
function kernelOf(reach: number, cutoff: number): Float32Array {
  return Float32Array.from({ length: reach * places + 1 }, (_, index) => {
    const distance = index / places;
    const phase = Math.PI * (distance / reach);
    const window = 0.42 + 0.5 * Math.cos(phase) + 0.08 * Math.cos(2 * phase);
    return cutoff * sinc(distance * cutoff) * window;
  });
}

const sinc = (x: number): number => (x === 0 ? 1 : Math.sin(Math.PI * x) / (Math.PI * x));
