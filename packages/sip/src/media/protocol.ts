/**
 * What the main thread and the media worker tell each other.
 *
 *   main   ── batches of commands, in order ──▶ worker
 *   worker ── one batch of frames per tick, and events ──▶ main
 *
 * The number of frame batches that main has not read yet is bounded: main counts the ones it read in shared
 * memory, and the worker leaves out batches while too many wait. Positions are totals, so a batch left out loses
 * audio but no account. Events are never left out; each call makes few.
 */

import type { Codec, NegotiatedMedia } from '../sdp/negotiate.ts';
import type { IdleSound } from './comfort-noise.ts';
import { FRAME_SAMPLES } from './g711.ts';
import type { InboundStats } from './inbound.ts';
import type { FrameKind } from './jitter-buffer.ts';
import type { PortRange } from './ports.ts';
import type { RecordingEnd } from './recording.ts';
import type { PeerView } from './reports.ts';
import type { SocketAddress } from './source-lock.ts';
import type { ToneEvent, ToneKind } from './tones/listener.ts';

/** What the worker is started with. */
export interface WorkerSettings {
  readonly address: string;
  readonly ports: PortRange;
  /** One Int32: batches that main has read. */
  readonly read: SharedArrayBuffer;
}

export interface StreamOptions {
  readonly idle: IdleSound;
  readonly silenceLimitMs: number;
}

export type Command =
  | { readonly kind: 'open'; readonly id: number; readonly options: StreamOptions }
  | { readonly kind: 'connect'; readonly id: number; readonly media: NegotiatedMedia }
  | { readonly kind: 'play'; readonly id: number; readonly audio: Uint8Array }
  | { readonly kind: 'clear'; readonly id: number }
  | { readonly kind: 'dial'; readonly id: number; readonly keys: string }
  | { readonly kind: 'listen'; readonly id: number; readonly tones: readonly ToneKind[] }
  | { readonly kind: 'record'; readonly id: number; readonly path: string; readonly maxDurationMs: number }
  | { readonly kind: 'stop_recording'; readonly id: number }
  | { readonly kind: 'bridge'; readonly id: number; readonly partner: number }
  | { readonly kind: 'tap'; readonly id: number; readonly open: boolean }
  | { readonly kind: 'stats'; readonly id: number }
  | { readonly kind: 'close'; readonly id: number }
  | { readonly kind: 'shut_down' };

/** A command that concerns an open call. */
export type StreamCommand = Exclude<Command, { readonly kind: 'open' | 'shut_down' }>;

export interface MediaStats {
  readonly inbound: InboundStats;
  readonly outbound: {
    readonly packets: number;
    readonly playedMs: number;
    /** Queued audio that was cleared. */
    readonly droppedMs: number;
    /** Datagrams that the network refused: the far end's port is closed, or the network is gone. */
    readonly networkErrors: number;
  };
  /** What the peer reports of our audio; undefined until its first report. */
  readonly peer: PeerView | undefined;
  /** Mean opinion score of what we hear, 1–4.41 (E-model). */
  readonly score: number;
}

/** A `key` is a press that was heard, as a telephone event or, when asked for, as a tone. */
export type MediaEvent =
  | ToneEvent
  /** The peer's first valid packet came: from here on only this source is heard. */
  | { readonly kind: 'source_locked'; readonly source: SocketAddress }
  /** Nothing came for the call's limit. Told once per silence. */
  | { readonly kind: 'silence'; readonly silentMs: number }
  | { readonly kind: 'recording_ended'; readonly end: RecordingEnd };

/** Samples of queued audio, as totals since the call was opened. */
export interface Position {
  readonly played: number;
  readonly dropped: number;
}

/** Both sides of a call, 20 ms of G.711 each. The bytes may be kept. */
export interface TappedFrame {
  readonly codec: Codec;
  readonly heard: Uint8Array;
  /** Silence where nothing left, as while a key was sent as an event. */
  readonly sent: Uint8Array;
}

export interface TapRecord extends TappedFrame {
  readonly id: number;
}

export type Report =
  | { readonly kind: 'opened'; readonly id: number; readonly port: number }
  | { readonly kind: 'no_port'; readonly id: number }
  /** One tick. `taps`: of the calls that somebody listens to. */
  | { readonly kind: 'frames'; readonly batch: ArrayBuffer; readonly taps: readonly TapRecord[] }
  | { readonly kind: 'event'; readonly id: number; readonly event: MediaEvent }
  /** `before`: the position when the order to clear came. */
  | { readonly kind: 'cleared'; readonly id: number; readonly before: Position; readonly droppedNow: number }
  | { readonly kind: 'stats'; readonly id: number; readonly stats: MediaStats }
  | {
      readonly kind: 'closed';
      readonly id: number;
      readonly reason: 'closed' | 'failed';
      readonly stats: MediaStats;
    }
  | { readonly kind: 'shut_down' };

/** Batches that may wait for main: two seconds. */
export const MAX_UNREAD_BATCHES = 100;

const FRAME_KINDS: readonly FrameKind[] = ['idle', 'voice', 'concealed'];
const HEADER_BYTES = 16;
const RECORD_BYTES = HEADER_BYTES + FRAME_SAMPLES;

/** One tick of one call. */
export interface FrameRecord extends Position {
  readonly id: number;
  readonly frameKind: FrameKind;
  readonly frame: Uint8Array;
}

/** Packs the records of a tick: id, played, dropped, kind (32 bits each), and the frame. */
export class BatchWriter {
  readonly #view: DataView<ArrayBuffer>;
  #at = 0;

  constructor(records: number) {
    this.#view = new DataView(new ArrayBuffer(records * RECORD_BYTES));
  }

  /** The place of the next record's frame, for the caller to fill. */
  get frame(): Uint8Array {
    return new Uint8Array(this.#view.buffer, this.#at + HEADER_BYTES, FRAME_SAMPLES);
  }

  /** Completes the record whose frame was filled. */
  add(id: number, { played, dropped }: Position, frameKind: FrameKind): void {
    this.#view.setUint32(this.#at, id);
    this.#view.setUint32(this.#at + 4, played);
    this.#view.setUint32(this.#at + 8, dropped);
    this.#view.setUint32(this.#at + 12, FRAME_KINDS.indexOf(frameKind));
    this.#at += RECORD_BYTES;
  }

  finish(): ArrayBuffer {
    return this.#view.buffer.byteLength === this.#at
      ? this.#view.buffer
      : this.#view.buffer.slice(0, this.#at);
  }
}

export function* readBatch(batch: ArrayBuffer): Generator<FrameRecord> {
  const view = new DataView(batch);
  for (let at = 0; at + RECORD_BYTES <= batch.byteLength; at += RECORD_BYTES) {
    yield {
      id: view.getUint32(at),
      played: view.getUint32(at + 4),
      dropped: view.getUint32(at + 8),
      frameKind: FRAME_KINDS[view.getUint32(at + 12)] ?? 'idle',
      frame: new Uint8Array(batch, at + HEADER_BYTES, FRAME_SAMPLES),
    };
  }
}
