/** Keeps the sound of one segment of speech, and a little of what came before it. */
import { FRAME_MS } from '@trunkcall/sip';
import { maxSegmentMs, preRollMs } from './ports.ts';

const preRoll = preRollMs / FRAME_MS;
const mostFrames = preRoll + maxSegmentMs / FRAME_MS;

export class SegmentRecorder {
  #frames: Uint8Array[] = [];
  #recording = false;

  /** Takes consecutive 20 ms frames. */
  frame(frame: Uint8Array): void {
    this.#frames.push(frame);
    if (!this.#recording && this.#frames.length > preRoll) this.#frames.shift();
    // Whoever listens ends a segment before; should it not, the newest is kept.
    if (this.#frames.length > mostFrames) this.#frames.shift();
  }

  begin(): void {
    this.#recording = true;
  }

  /** The sound of the segment so far. */
  get codes(): Uint8Array {
    return Buffer.concat(this.#frames);
  }

  /** Ends the segment and returns its sound. */
  end(): Uint8Array {
    const { codes } = this;
    this.#frames = [];
    this.#recording = false;
    return codes;
  }
}
