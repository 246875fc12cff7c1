/**
 * Sound on its way to the loudspeaker: held back until there is enough to bridge the network's variations, at the
 * beginning and again after a gap.
 */
export class PlayOut {
  readonly #lead: number;
  readonly #most: number;
  #pieces: Float32Array[] = [];
  #waiting = 0;
  #filling = true;
  /** For how many samples something was held back. */
  #held = 0;

  /** Both in samples: how much is held back, and how much at most; the oldest goes first. */
  constructor(lead: number, most: number) {
    this.#lead = lead;
    this.#most = most;
  }

  push(samples: Float32Array): void {
    this.#pieces.push(samples);
    this.#waiting += samples.length;
    while (this.#waiting > this.#most) this.#waiting -= this.#pieces.shift()?.length ?? this.#waiting;
    if (this.#waiting >= this.#lead) this.#filling = false;
  }

  clear(): void {
    this.#pieces = [];
    this.#waiting = 0;
    this.#filling = true;
    this.#held = 0;
  }

  /** Fills `output`, with silence where nothing is to be heard. `flush`: nothing follows, so nothing is held back. */
  play(output: Float32Array, flush: boolean): void {
    output.fill(0);
    if (this.#waiting > 0) this.#held += output.length;
    // A word that is shorter than the lead is not held back for longer.
    if (this.#filling && !flush && this.#held < this.#lead) return;
    this.#filling = false;
    let filled = 0;
    for (let [piece] = this.#pieces; piece !== undefined && filled < output.length; [piece] = this.#pieces) {
      const part = piece.subarray(0, output.length - filled);
      output.set(part, filled);
      filled += part.length;
      if (part.length === piece.length) this.#pieces.shift();
      else this.#pieces[0] = piece.subarray(part.length);
    }
    this.#waiting -= filled;
    if (filled === output.length) return;
    this.#filling = true;
    this.#held = 0;
  }
}
