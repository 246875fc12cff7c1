/**
 * Turns packets that arrive in any order into an even flow of frames.
 *
 * A ring of samples, addressed by RTP timestamp: a packet is written where its timestamp says, whatever its
 * length and order; a frame is read at the play-out point, which moves one frame with every read. The only clock
 * is the reader: 20 ms are one read. A packet that comes right behind a read waits nearly a frame longer for its own
 * than one that comes right before it, so each says how long ago the last read was.
 *
 *            play-out point ──▶                ◀── where the newest packet ends
 *   … read and wiped │ 20 ms │ 20 ms │ (hole) │ 20 ms │ …
 *                    └───────── margin ───────┘ of a packet: how long it waits before it is played
 *
 * Invariants
 * - A steady stream waits 40 ms, give or take half a frame. The wait grows by one frame when more than one packet in 100 is late, and
 *   shrinks when for 100 packets all came earlier than needed; so it also follows a sender whose clock is fast
 *   or slow.
 * - It never waits longer than `MAX_DEPTH_MS`; what is older is skipped to stay near live.
 * - No sample is played twice, and none of a packet whose number was seen before.
 */

import { FRAME_MS, FRAME_SAMPLES, SAMPLES_PER_MS } from './g711.ts';
import { advanceTimestamp, timestampDistance } from './wrap.ts';

const TARGET_DEPTH_MS = 40;
export const MAX_DEPTH_MS = 240;

const TARGET = TARGET_DEPTH_MS * SAMPLES_PER_MS;
const MAX_DEPTH = MAX_DEPTH_MS * SAMPLES_PER_MS;
/** A power of two above the depth and the longest packet. */
const RING = 4_096;
/** Longest packet that is taken, samples (200 ms). */
const MAX_PACKET = 1_600;
const WINDOW_PACKETS = 100;
const TOLERATED_LATE = 1;
/** How many sequence numbers are remembered to know a duplicate. */
const REMEMBERED = 512;

export interface JitterBufferStats {
  /** Packets that came after their time. */
  readonly late: number;
  readonly duplicates: number;
  /** Frames played with a hole although later audio was there already. */
  readonly concealed: number;
  /** Samples skipped to stay near live. */
  readonly skipped: number;
  /** How long the newest packet waits, milliseconds. */
  readonly depthMs: number;
}

/** `voice`: all samples came from packets. `concealed`: a hole before later audio. `idle`: the stream pauses. */
export type FrameKind = 'voice' | 'concealed' | 'idle';

export class JitterBuffer {
  readonly #samples = new Uint8Array(RING);
  readonly #present = new Uint8Array(RING);
  readonly #seen = new Float64Array(REMEMBERED).fill(-1);
  readonly #silence: number;
  /** Timestamp of the next sample to play; undefined until the first packet. */
  #playAt: number | undefined;
  /** Timestamp behind the newest sample. */
  #end = 0;
  /** Samples until the stream begins or resumes: waiting for them is no loss. */
  #leadIn = 0;
  #highest = -1;
  #windowPackets = 0;
  #windowLate = 0;
  #windowWait = Infinity;
  #late = 0;
  #duplicates = 0;
  #concealed = 0;
  #skipped = 0;
  #depth = 0;

  /** `silence` is the code that fills holes. */
  constructor(silence: number) {
    this.#silence = silence;
  }

  /**
   * Takes a packet that came so long after the last read, milliseconds up to a frame. `sequence` is extended: it does
   * not wrap. Packets longer than 200 ms are cut.
   */
  write(sequence: number, timestamp: number, payload: Uint8Array, sinceReadMs = FRAME_MS): void {
    if (this.#remembers(sequence)) {
      this.#duplicates += 1;
      return;
    }
    const newest = sequence > this.#highest;
    this.#highest = Math.max(this.#highest, sequence);
    const audio = payload.length > MAX_PACKET ? payload.subarray(0, MAX_PACKET) : payload;
    const untilRead = Math.round((FRAME_MS - sinceReadMs) * SAMPLES_PER_MS);
    this.#place(timestamp, newest, untilRead);
    const margin = timestampDistance(timestamp, this.#playAt ?? timestamp);
    this.#observe(margin, untilRead);
    if (margin + audio.length > 0) this.#store(timestamp, audio, Math.max(0, -margin));
    if (newest) this.#depth = Math.max(0, margin);
    this.#adapt();
  }

  #remembers(sequence: number): boolean {
    const slot = sequence % REMEMBERED;
    if (this.#seen[slot] === sequence) return true;
    this.#seen[slot] = sequence;
    return false;
  }

  /** Sets the play-out point anew when the stream begins, resumes behind it, or runs too far ahead of it. */
  #place(timestamp: number, newest: boolean, untilRead: number): void {
    const margin = this.#playAt === undefined ? 0 : timestampDistance(timestamp, this.#playAt);
    const resumes = newest && margin < 0 && this.#buffered() <= 0;
    if (this.#playAt !== undefined && margin <= MAX_DEPTH && !resumes) return;
    if (resumes) this.#late += 1;
    if (margin > MAX_DEPTH) this.#skipped += Math.max(0, Math.min(this.#buffered(), margin - TARGET));
    // Whole frames, of which the next read takes the first: the wait that is nearest to the target.
    const lead = FRAME_SAMPLES * Math.round((TARGET - untilRead) / FRAME_SAMPLES);
    const playAt = advanceTimestamp(timestamp, -lead);
    this.#wipe(playAt, margin);
    this.#playAt = playAt;
    if (resumes || this.#buffered() < 0) this.#end = playAt;
    this.#restartWindow();
  }

  /** Forgets what lies before the new play-out point, or everything after a leap longer than the ring. */
  #wipe(playAt: number, margin: number): void {
    const old = this.#playAt;
    const leap = old === undefined ? RING : timestampDistance(playAt, old);
    if (old === undefined || Math.abs(leap) >= RING || Math.abs(margin) >= RING) {
      this.#present.fill(0);
      this.#end = playAt;
      return;
    }
    for (let at = 0; at < leap; at += 1) this.#present[(old + at) & (RING - 1)] = 0;
  }

  #store(timestamp: number, audio: Uint8Array, from: number): void {
    if (this.#buffered() <= 0) this.#leadIn = timestampDistance(timestamp, this.#playAt ?? timestamp);
    for (let at = from; at < audio.length; at += 1) {
      const slot = (timestamp + at) & (RING - 1);
      this.#samples[slot] = audio[at] ?? 0;
      this.#present[slot] = 1;
    }
    const end = advanceTimestamp(timestamp, audio.length);
    if (timestampDistance(end, this.#end) > 0) this.#end = end;
  }

  #observe(margin: number, untilRead: number): void {
    this.#windowPackets += 1;
    this.#windowWait = Math.min(this.#windowWait, margin + untilRead);
    if (margin >= 0) return;
    this.#late += 1;
    this.#windowLate += 1;
  }

  #adapt(): void {
    if (this.#playAt === undefined) return;
    if (this.#windowLate > TOLERATED_LATE) {
      if (this.#buffered() + FRAME_SAMPLES <= MAX_DEPTH) {
        this.#playAt = advanceTimestamp(this.#playAt, -FRAME_SAMPLES);
      }
      this.#restartWindow();
      return;
    }
    if (this.#windowPackets < WINDOW_PACKETS) return;
    const excess = this.#windowWait - TARGET;
    // Half of the excess at a time: back near live within seconds, without one long cut.
    if (excess >= FRAME_SAMPLES) this.#skip(Math.max(1, Math.floor(excess / 2 / FRAME_SAMPLES)));
    this.#restartWindow();
  }

  #skip(frames: number): void {
    const samples = frames * FRAME_SAMPLES;
    const from = this.#playAt ?? 0;
    for (let at = 0; at < samples; at += 1) this.#present[(from + at) & (RING - 1)] = 0;
    this.#playAt = advanceTimestamp(from, samples);
    this.#skipped += samples;
  }

  #restartWindow(): void {
    this.#windowPackets = 0;
    this.#windowLate = 0;
    this.#windowWait = Infinity;
  }

  /** Samples between the play-out point and the end of the newest packet; not positive when it ran dry. */
  #buffered(): number {
    return this.#playAt === undefined ? 0 : timestampDistance(this.#end, this.#playAt);
  }

  /** Fills `frame` (`FRAME_SAMPLES` long) with the next 20 ms; holes are silent. */
  read(frame: Uint8Array): FrameKind {
    if (this.#playAt === undefined) {
      frame.fill(this.#silence);
      return 'idle';
    }
    const expected = this.#buffered() > 0 && this.#leadIn <= 0;
    this.#leadIn -= FRAME_SAMPLES;
    let missing = 0;
    for (let at = 0; at < FRAME_SAMPLES; at += 1) {
      const slot = (this.#playAt + at) & (RING - 1);
      if (this.#present[slot] === 1) {
        frame[at] = this.#samples[slot] ?? 0;
        this.#present[slot] = 0;
      } else {
        frame[at] = this.#silence;
        missing += 1;
      }
    }
    this.#playAt = advanceTimestamp(this.#playAt, FRAME_SAMPLES);
    // The end follows, else a pause of many hours would look like a stream that lies ahead.
    if (this.#buffered() < 0) this.#end = this.#playAt;
    if (missing === 0) return 'voice';
    if (!expected) return 'idle';
    this.#concealed += 1;
    return 'concealed';
  }

  stats(): JitterBufferStats {
    return {
      late: this.#late,
      duplicates: this.#duplicates,
      concealed: this.#concealed,
      skipped: this.#skipped,
      depthMs: this.#depth / SAMPLES_PER_MS,
    };
  }
}
