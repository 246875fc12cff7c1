/**
 * The two directions of a line that carries sound, without clock or socket: somebody asks both for one frame every
 * 20 ms. A frame is 160 bytes of G.711 µ-law.
 */
import { FRAME_SAMPLES, Playback, SAMPLES_PER_MS, SILENCE } from '@trunkcall/sip';

/** Bound of what waits to be played, samples: 120 s. */
const maxQueued = 120_000 * SAMPLES_PER_MS;

interface Mark {
  /** Samples that have left the queue by then. */
  readonly at: number;
  readonly settle: (how: 'played' | 'cleared') => void;
}

/** Our sound on its way to the callee. */
export class PlayQueue {
  readonly #playback = new Playback();
  #marks: Mark[] = [];
  #closed = false;

  get playedMs(): number {
    return this.#playback.played / SAMPLES_PER_MS;
  }

  /** Copies audio into the queue; false, and nothing is queued, past its bound or when it is closed. */
  play(audio: Uint8Array): boolean {
    if (this.#closed || this.#playback.queued + audio.length > maxQueued) return false;
    this.#playback.push(audio.slice());
    return true;
  }

  /** Drops what waits. */
  clear(): { readonly playedMs: number; readonly droppedMs: number } {
    const dropped = this.#playback.clear();
    this.#settle('cleared', () => true);
    return { playedMs: this.playedMs, droppedMs: dropped / SAMPLES_PER_MS };
  }

  /** Resolves when what waits now was played or dropped. */
  mark(): Promise<'played' | 'cleared'> {
    if (this.#closed) return Promise.resolve('cleared');
    const { queued, played } = this.#playback;
    if (queued === 0) return Promise.resolve('played');
    return new Promise((settle) => this.#marks.push({ at: played + queued, settle }));
  }

  /** The next frame, filled up with silence; null when nothing waits. */
  next(): Uint8Array | null {
    if (this.#playback.queued === 0) return null;
    const frame = new Uint8Array(FRAME_SAMPLES).fill(SILENCE.PCMU);
    this.#playback.take(frame);
    this.#settle('played', ({ at }) => at <= this.#playback.played);
    return frame;
  }

  /** Drops what waits; nothing is taken any more. Safe to repeat. */
  close(): void {
    this.#closed = true;
    this.clear();
  }

  #settle(how: 'played' | 'cleared', reached: (mark: Mark) => boolean): void {
    const settled = this.#marks.filter(reached);
    this.#marks = this.#marks.filter((mark) => !settled.includes(mark));
    for (const { settle } of settled) settle(how);
  }
}

/** Frames that wait before the first is handed out, and again after a gap: what the network may vary by. */
const lead = 3;
/** With more than this waiting (clocks differ, networks stall) the callee would be heard too late. */
const maxWaiting = 12;

/** The callee's sound on its way to us. */
export class ArrivalBuffer {
  #frames: Uint8Array[] = [];
  #filling = true;

  /** Takes a frame; too many waiting, the oldest are dropped down to the lead. */
  push(frame: Uint8Array): void {
    this.#frames.push(frame);
    if (this.#frames.length > maxWaiting) this.#frames = this.#frames.slice(-lead);
  }

  /** The frame of this moment; silence where none has come. */
  next(): Uint8Array {
    if (this.#frames.length >= lead) this.#filling = false;
    const frame = this.#filling ? undefined : this.#frames.shift();
    this.#filling ||= frame === undefined;
    return frame ?? new Uint8Array(FRAME_SAMPLES).fill(SILENCE.PCMU);
  }
}
