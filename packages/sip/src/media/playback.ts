/** Audio that waits to be sent: a queue of pieces, handed out in frames. */

export class Playback {
  readonly #pieces: Uint8Array[] = [];
  /** How much of the first piece is gone. */
  #offset = 0;
  /** Samples that wait. */
  queued = 0;
  /** Samples handed out since the beginning. */
  played = 0;
  /** Samples thrown away by `clear` since the beginning. */
  dropped = 0;

  push(audio: Uint8Array): void {
    if (audio.length === 0) return;
    this.#pieces.push(audio);
    this.queued += audio.length;
  }

  /** Copies as much as there is, up to the frame's length, and says how much that was. */
  take(frame: Uint8Array): number {
    let filled = 0;
    let [piece] = this.#pieces;
    while (piece !== undefined && filled < frame.length) {
      const part = piece.subarray(this.#offset, this.#offset + frame.length - filled);
      frame.set(part, filled);
      filled += part.length;
      this.#offset += part.length;
      if (this.#offset === piece.length) {
        this.#pieces.shift();
        this.#offset = 0;
        [piece] = this.#pieces;
      }
    }
    this.queued -= filled;
    this.played += filled;
    return filled;
  }

  /** Throws away what waits and says how many samples that was. */
  clear(): number {
    const { queued } = this;
    this.#pieces.length = 0;
    this.#offset = 0;
    this.queued = 0;
    this.dropped += queued;
    return queued;
  }
}
