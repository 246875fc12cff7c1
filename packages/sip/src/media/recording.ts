/**
 * Both directions of a call as a stereo WAV file: 8 kHz, 16 bits, left what we heard, right what we sent.
 *
 * Streamed: one second is collected, then appended; at most `MAX_PENDING` seconds wait for the disk. The sizes in
 * the header are rewritten every ten seconds, so that what a crash leaves behind can be played.
 */

import { type FileHandle, open } from 'node:fs/promises';
import type { Codec } from '../sdp/negotiate.ts';
import { EXPANDED, FRAME_SAMPLES } from './g711.ts';

const RATE = 8_000;
const CHANNELS = 2;
const SAMPLE_BYTES = 2;
const FRAME_BYTES = FRAME_SAMPLES * CHANNELS * SAMPLE_BYTES;
const SECOND_BYTES = RATE * CHANNELS * SAMPLE_BYTES;
export const WAV_HEADER_BYTES = 44;
const HEADER_EVERY_BYTES = 10 * SECOND_BYTES;
const MAX_PENDING = 30;

export interface RecordingEnd {
  /** `stopped`: as ordered, or the call ended. `limit`: its longest duration was reached. */
  readonly reason: 'stopped' | 'limit' | 'disk_failed' | 'disk_too_slow';
  /** What the file holds. */
  readonly durationMs: number;
}

/** The header of a file with `dataBytes` of samples. */
function wavHeader(dataBytes: number): Buffer {
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(WAV_HEADER_BYTES - 8 + dataBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(CHANNELS, 22);
  header.writeUInt32LE(RATE, 24);
  header.writeUInt32LE(SECOND_BYTES, 28);
  header.writeUInt16LE(CHANNELS * SAMPLE_BYTES, 32);
  header.writeUInt16LE(SAMPLE_BYTES * 8, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

export class Recording {
  /** Resolves once, when the file is closed. Never rejects. */
  readonly ended: Promise<RecordingEnd>;
  readonly #maxBytes: number;
  readonly #settle: (end: RecordingEnd) => void;
  #chunk = Buffer.allocUnsafe(SECOND_BYTES);
  #filled = 0;
  #accepted = 0;
  #written = 0;
  #headerAt = 0;
  #pending = 0;
  #reason: RecordingEnd['reason'] | undefined;
  #failed = false;
  /** All disk work in order; undefined when the file could not be opened. */
  #work: Promise<FileHandle | undefined>;

  /** Creates (or empties) the file, readable by its owner alone. A failure shows as `disk_failed`. */
  constructor(path: string, maxDurationMs: number) {
    this.#maxBytes = Math.ceil(maxDurationMs / 1_000) * SECOND_BYTES;
    const { promise, resolve } = Promise.withResolvers<RecordingEnd>();
    this.ended = promise;
    this.#settle = resolve;
    this.#work = open(path, 'w', 0o600).catch(() => this.#fail());
    this.#queue((file) => this.#writeHeader(file));
  }

  /** Adds 20 ms of both directions. Does nothing once the recording is ending. */
  add(codec: Codec, heard: Uint8Array, sent: Uint8Array): void {
    if (this.#reason !== undefined) return;
    const table = EXPANDED[codec];
    for (let at = 0; at < FRAME_SAMPLES; at += 1) {
      const place = this.#filled + at * CHANNELS * SAMPLE_BYTES;
      this.#chunk.writeInt16LE(table[heard[at] ?? 0] ?? 0, place);
      this.#chunk.writeInt16LE(table[sent[at] ?? 0] ?? 0, place + SAMPLE_BYTES);
    }
    this.#filled += FRAME_BYTES;
    this.#accepted += FRAME_BYTES;
    if (this.#filled === SECOND_BYTES) this.#flush();
    if (this.#accepted >= this.#maxBytes) this.#end('limit');
  }

  /** Writes what is left and closes the file. Safe to repeat. */
  stop(): Promise<RecordingEnd> {
    this.#end('stopped');
    return this.ended;
  }

  #flush(): void {
    if (this.#pending >= MAX_PENDING) {
      this.#end('disk_too_slow');
      return;
    }
    const data = this.#chunk.subarray(0, this.#filled);
    this.#chunk = Buffer.allocUnsafe(SECOND_BYTES);
    this.#filled = 0;
    this.#queue(async (file) => {
      await file.write(data, 0, data.length, WAV_HEADER_BYTES + this.#written);
      this.#written += data.length;
      if (this.#written - this.#headerAt >= HEADER_EVERY_BYTES) await this.#writeHeader(file);
    });
  }

  async #writeHeader(file: FileHandle): Promise<void> {
    await file.write(wavHeader(this.#written), 0, WAV_HEADER_BYTES, 0);
    this.#headerAt = this.#written;
  }

  #end(reason: RecordingEnd['reason']): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    if (reason !== 'disk_too_slow' && this.#filled > 0) this.#flush();
    this.#queue((file) => this.#writeHeader(file));
    void this.#close();
  }

  /** Runs a task behind those before it; after the first failure (a full disk fails every write) none runs. */
  #queue(task: (file: FileHandle) => Promise<void>): void {
    this.#pending += 1;
    this.#work = this.#work.then(async (file) => {
      if (file !== undefined && !this.#failed) await task(file).catch(() => this.#fail());
      this.#pending -= 1;
      return file;
    });
  }

  #fail(): undefined {
    this.#failed = true;
    this.#end('disk_failed');
  }

  async #close(): Promise<void> {
    const file = await this.#work;
    await file?.close().catch(() => this.#fail());
    const durationMs = (this.#written * 1_000) / SECOND_BYTES;
    this.#settle({ reason: this.#failed ? 'disk_failed' : (this.#reason ?? 'stopped'), durationMs });
  }
}
