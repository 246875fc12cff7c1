/**
 * A call's media as the main thread sees it. Positions are samples of queued audio since the call was opened: what
 * was accepted, and what the worker reported as sent or dropped. A mark is such a position, so it needs no message.
 */

import type { NegotiatedMedia } from '../sdp/negotiate.ts';
import { SAMPLES_PER_MS } from './g711.ts';
import type { FrameKind } from './jitter-buffer.ts';
import type {
  Command,
  FrameRecord,
  MediaEvent,
  MediaStats,
  Position,
  Report,
  TappedFrame,
} from './protocol.ts';
import { areKeys } from './telephone-events.ts';
import type { ToneKind } from './tones/listener.ts';

/** Told from the main thread's event loop. Must not throw. */
export interface MediaHandlers {
  /**
   * Every 20 ms from the first `connect` on: 160 bytes of G.711 in the agreed codec, silence where nothing came. The
   * bytes may be kept. Frames are left out while the main thread is more than two seconds behind.
   */
  onFrame?(frame: Uint8Array, kind: FrameKind): void;
  onEvent?(event: MediaEvent): void;
}

export interface MediaEnd {
  /** `closed`: as ordered. `failed`: an error of ours in this call. `engine_stopped`: the engine was closed or died. */
  readonly reason: 'closed' | 'failed' | 'engine_stopped';
  /** Undefined when the engine died. */
  readonly stats: MediaStats | undefined;
}

export interface Cleared {
  /** All audio that was really sent since the call was opened, milliseconds. */
  readonly playedMs: number;
  /** What this order dropped, milliseconds. */
  readonly droppedMs: number;
}

/** How a mark was passed: all audio before it was sent, or some of it was dropped. */
export type MarkEnd = 'played' | 'cleared';

export interface MediaCall {
  /** The RTP port, for the session description; RTCP is on the next one. */
  readonly port: number;
  /** Resolves once, when the sockets are closed. Never rejects. */
  readonly ended: Promise<MediaEnd>;
  /** Starts the media, or changes it after another offer and answer. With another codec queued audio is dropped. */
  connect(media: NegotiatedMedia): void;
  /**
   * Queues G.711 audio in the agreed codec, of any length; it is copied. False, and nothing is queued, when the
   * call ended or more than the call's limit would wait.
   */
  play(audio: Uint8Array): boolean;
  /** Drops the audio and the key presses that wait. */
  clear(): Promise<Cleared>;
  /** Queued audio that was sent so far, milliseconds; as of the last 20 ms. */
  played(): number;
  /** Queued audio that still waits, milliseconds; as of the last 20 ms. */
  queued(): number;
  /** Resolves when all audio queued before it was sent or dropped, or the call ended (`cleared`). */
  mark(): Promise<MarkEnd>;
  /**
   * Presses keys (`0-9*#A-D`), before any queued audio. False for other characters or more than 64 keys; what
   * exceeds 64 waiting keys is dropped.
   */
  dial(keys: string): boolean;
  /** In-band tones to listen for from now on; `[]` ends it. Costs processor time for every frame. */
  listen(tones: readonly ToneKind[]): void;
  /** Records both directions to a stereo WAV file until `stopRecording`, the limit, or the end of the call. */
  record(options: { readonly path: string; readonly maxDurationMs: number }): void;
  /** The file is complete when the event `recording_ended` comes. */
  stopRecording(): void;
  /**
   * Lets the two calls hear each other until one of them ends: sound, transcoded where their codecs differ, and key
   * presses. What is played to a call goes before what comes from the other. Both must be of one engine.
   */
  bridge(partner: MediaCall): void;
  /**
   * Lets `handler`, which must not throw, have both sides as they are, every 20 ms from the first `connect` on, until
   * the returned function is called or the call ends. Left out, like frames, while the main thread is behind. Costs
   * nothing while nobody does it.
   */
  tap(handler: (frame: TappedFrame) => void): () => void;
  /** Undefined when the call ended. */
  stats(): Promise<MediaStats | undefined>;
  /** Ends the media. Safe to repeat. */
  close(): Promise<MediaEnd>;
}

interface Mark {
  readonly at: number;
  readonly settle: (end: MarkEnd) => void;
}

/** The main thread's half of a call; `post` hands a command to the worker, in order. */
export class CallHandle implements MediaCall {
  readonly port: number;
  readonly ended: Promise<MediaEnd>;
  readonly #id: number;
  readonly #post: (command: Command) => void;
  readonly #handlers: MediaHandlers;
  readonly #maxQueued: number;
  readonly #settleEnd: (end: MediaEnd) => void;
  #over = false;
  #accepted = 0;
  #position: Position = { played: 0, dropped: 0 };
  /** In order of position. */
  #marks: Mark[] = [];
  /** Answers come in the order of the orders. `marks`: those set before the order. */
  readonly #clears: { marks: Mark[]; settle: (cleared: Cleared) => void }[] = [];
  readonly #asked: ((stats: MediaStats | undefined) => void)[] = [];
  /** An entry for each tap. */
  readonly #taps = new Set<{ readonly handler: (frame: TappedFrame) => void }>();

  constructor(
    id: number,
    port: number,
    maxQueuedMs: number,
    handlers: MediaHandlers,
    post: (command: Command) => void,
  ) {
    this.#id = id;
    this.port = port;
    this.#maxQueued = maxQueuedMs * SAMPLES_PER_MS;
    this.#handlers = handlers;
    this.#post = post;
    const { promise, resolve } = Promise.withResolvers<MediaEnd>();
    this.ended = promise;
    this.#settleEnd = resolve;
  }

  connect(media: NegotiatedMedia): void {
    if (!this.#over) this.#post({ kind: 'connect', id: this.#id, media });
  }

  play(audio: Uint8Array): boolean {
    if (this.#over || this.#waiting() + audio.length > this.#maxQueued) return false;
    this.#accepted += audio.length;
    // A copy of its own: a view would drag all of its underlying buffer to the worker.
    this.#post({ kind: 'play', id: this.#id, audio: new Uint8Array(audio) });
    return true;
  }

  #waiting(): number {
    return this.#accepted - this.#position.played - this.#position.dropped;
  }

  clear(): Promise<Cleared> {
    if (this.#over) return Promise.resolve({ playedMs: this.played(), droppedMs: 0 });
    const { promise, resolve } = Promise.withResolvers<Cleared>();
    this.#clears.push({ marks: this.#marks, settle: resolve });
    this.#marks = [];
    this.#post({ kind: 'clear', id: this.#id });
    return promise;
  }

  played(): number {
    return this.#position.played / SAMPLES_PER_MS;
  }

  queued(): number {
    return this.#waiting() / SAMPLES_PER_MS;
  }

  mark(): Promise<MarkEnd> {
    if (this.#over) return Promise.resolve('cleared');
    if (this.#waiting() === 0) return Promise.resolve('played');
    const { promise, resolve } = Promise.withResolvers<MarkEnd>();
    this.#marks.push({ at: this.#accepted, settle: resolve });
    return promise;
  }

  dial(keys: string): boolean {
    if (this.#over || !areKeys(keys)) return false;
    this.#post({ kind: 'dial', id: this.#id, keys });
    return true;
  }

  listen(tones: readonly ToneKind[]): void {
    if (!this.#over) this.#post({ kind: 'listen', id: this.#id, tones });
  }

  record({ path, maxDurationMs }: { readonly path: string; readonly maxDurationMs: number }): void {
    if (!this.#over) this.#post({ kind: 'record', id: this.#id, path, maxDurationMs });
  }

  stopRecording(): void {
    if (!this.#over) this.#post({ kind: 'stop_recording', id: this.#id });
  }

  bridge(partner: MediaCall): void {
    if (!this.#over && partner instanceof CallHandle && !partner.#over)
      this.#post({ kind: 'bridge', id: this.#id, partner: partner.#id });
  }

  tap(handler: (frame: TappedFrame) => void): () => void {
    if (this.#over) return () => undefined;
    const tap = { handler };
    this.#taps.add(tap);
    if (this.#taps.size === 1) this.#post({ kind: 'tap', id: this.#id, open: true });
    return () => {
      const wasLast = this.#taps.delete(tap) && this.#taps.size === 0;
      if (wasLast && !this.#over) this.#post({ kind: 'tap', id: this.#id, open: false });
    };
  }

  stats(): Promise<MediaStats | undefined> {
    if (this.#over) return Promise.resolve(undefined);
    const { promise, resolve } = Promise.withResolvers<MediaStats | undefined>();
    this.#asked.push(resolve);
    this.#post({ kind: 'stats', id: this.#id });
    return promise;
  }

  close(): Promise<MediaEnd> {
    if (!this.#over) this.#post({ kind: 'close', id: this.#id });
    return this.ended;
  }

  /** A tick's record of this call. */
  takeFrame({ played, dropped, frameKind, frame }: FrameRecord): void {
    this.#position = { played, dropped };
    this.#passMarks();
    this.#handlers.onFrame?.(frame, frameKind);
  }

  /** A tick of both sides. */
  takeTapped({ codec, heard, sent }: TappedFrame): void {
    for (const { handler } of this.#taps) handler({ codec, heard, sent });
  }

  #passMarks(): void {
    const passed = this.#position.played + this.#position.dropped;
    while (this.#marks[0] !== undefined && this.#marks[0].at <= passed) this.#marks.shift()?.settle('played');
  }

  take(report: Extract<Report, { readonly id: number }>): void {
    switch (report.kind) {
      case 'event':
        this.#handlers.onEvent?.(report.event);
        return;
      case 'cleared':
        this.#takeCleared(report.before, report.droppedNow);
        return;
      case 'stats':
        this.#asked.shift()?.(report.stats);
        return;
      case 'closed':
        this.finish({ reason: report.reason, stats: report.stats });
        return;
      case 'opened':
      case 'no_port':
    }
  }

  #takeCleared(before: Position, droppedNow: number): void {
    this.#position = { played: before.played, dropped: before.dropped + droppedNow };
    const clear = this.#clears.shift();
    const passed = before.played + before.dropped;
    for (const { at, settle } of clear?.marks ?? []) settle(at <= passed ? 'played' : 'cleared');
    clear?.settle({
      playedMs: before.played / SAMPLES_PER_MS,
      droppedMs: droppedNow / SAMPLES_PER_MS,
    });
  }

  /** The call is over, whoever ended it: whatever waits is answered. */
  finish(end: MediaEnd): void {
    if (this.#over) return;
    this.#over = true;
    const playedMs = this.played();
    for (const { marks, settle } of this.#clears.splice(0)) {
      for (const mark of marks) mark.settle('cleared');
      settle({ playedMs, droppedMs: 0 });
    }
    for (const mark of this.#marks.splice(0)) mark.settle('cleared');
    for (const answer of this.#asked.splice(0)) answer(undefined);
    this.#taps.clear();
    this.#settleEnd(end);
  }
}
