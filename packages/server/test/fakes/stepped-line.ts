/**
 * A leg that carries sound, whose time the test moves by 20 ms steps: after each step it waits until the other side
 * (a fake provider on a real socket) has taken in and answered everything. So the wall clock decides nothing.
 *
 * The callee is a function that speaks known sentences (`fixture-speech.ts`) and hears by recognition, as the fake
 * provider does.
 */
import type { AudioListener, AudioMedia, Carrier, Leg, LegEnd } from '../../src/carriers/carrier.ts';
import { recognise, silence, speechOf, type Law } from './fixture-speech.ts';

const frameMs = 20;
const frameBytes = 160;
/** 120 s of sound. */
const maxQueuedBytes = 120 * 8_000;

export type Callee = (line: SteppedLine) => Promise<void>;

interface Sleeper {
  readonly atMs: number;
  readonly wake: (due: boolean) => void;
}

export class SteppedLine {
  readonly leg: Leg<AudioMedia>;
  /** Keys that our side pressed. */
  readonly pressed: string[] = [];
  /** When sound of ours stopped or began, leg time; and all that was played. */
  readonly played: { readonly atMs: number; readonly frame: Uint8Array }[] = [];
  readonly #law: Law;
  readonly #ended = Promise.withResolvers<LegEnd>();
  #nowMs = 0;
  #over = false;
  #listener: AudioListener | null = null;
  #sleepers: Sleeper[] = [];
  #waiting: { ready: () => boolean; settle: (ready: boolean) => void }[] = [];
  #queue: Uint8Array[] = [];
  #queuedBytes = 0;
  #playedBytes = 0;
  #marks: { atBytes: number; settle: (how: 'played' | 'cleared') => void }[] = [];
  #speech: Uint8Array = new Uint8Array();

  constructor(law: Law) {
    this.#law = law;
    this.leg = {
      providerCallId: null,
      clock: { now: () => this.#nowMs, sleep: (ms, signal) => this.sleep(ms, signal) },
      media: this.#media(),
      ended: this.#ended.promise,
      hangUp: () => this.end('us'),
    };
  }

  get now(): number {
    return this.#nowMs;
  }

  /** Whether our side is being heard. */
  get hearsUs(): boolean {
    return this.#queuedBytes > 0;
  }

  /** Moves time by one frame, until the call is over. */
  async run(settled: () => Promise<void>): Promise<void> {
    while (!this.#over) {
      this.#step();
      await settled();
    }
  }

  sleep(ms: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#over || signal?.aborted === true) return Promise.resolve(false);
    return new Promise((resolve) => {
      const sleeper: Sleeper = { atMs: this.#nowMs + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        this.#sleepers = this.#sleepers.filter((each) => each !== sleeper);
        resolve(false);
      });
    });
  }

  /** Resolves `true` when it holds after a step, `false` at the end of the call. */
  until(ready: () => boolean): Promise<boolean> {
    if (this.#over) return Promise.resolve(false);
    return new Promise((settle) => this.#waiting.push({ ready, settle }));
  }

  /** Waits until our side has spoken and is silent for a while. */
  async untilWeStop(pauseMs = 400): Promise<boolean> {
    if (!(await this.until(() => this.hearsUs))) return false;
    return this.until(() => this.#nowMs - (this.played.at(-1)?.atMs ?? 0) >= pauseMs);
  }

  /** Speaks a sentence, and waits until it is over. */
  async speak(text: string): Promise<boolean> {
    this.#speech = speechOf(text, this.#law);
    return this.until(() => this.#speech.length === 0);
  }

  press(key: string): void {
    this.#listener?.key(key);
  }

  beep(): void {
    this.#listener?.beep();
  }

  informationTone(): void {
    this.#listener?.informationTone();
  }

  end(endedBy: 'us' | 'callee'): Promise<LegEnd> {
    if (!this.#over) {
      this.#over = true;
      this.#ended.resolve({ reason: 'hung_up', endedBy, sipStatus: null, q850: 16 });
      for (const { wake } of this.#sleepers.splice(0)) wake(false);
      for (const { settle } of this.#waiting.splice(0)) settle(false);
      for (const { settle } of this.#marks.splice(0)) settle('cleared');
    }
    return this.#ended.promise;
  }

  /** Which of our sentences began to be played between two times. */
  heard(texts: readonly string[], fromMs = 0, toMs = Infinity): string | null {
    const frames = this.played.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
    return recognise(Buffer.concat(frames.map(({ frame }) => frame)), this.#law, texts);
  }

  #step(): void {
    this.#nowMs += frameMs;
    this.#play();
    this.#listener?.frame(this.#speak());
    const due = this.#sleepers.filter(({ atMs }) => atMs <= this.#nowMs);
    this.#sleepers = this.#sleepers.filter(({ atMs }) => atMs > this.#nowMs);
    for (const { wake } of due) wake(true);
    const ready = this.#waiting.filter((each) => each.ready());
    this.#waiting = this.#waiting.filter((each) => !ready.includes(each));
    for (const { settle } of ready) settle(true);
  }

  #speak(): Uint8Array {
    if (this.#speech.length === 0) return silence(this.#law);
    const frame = this.#speech.subarray(0, frameBytes);
    this.#speech = this.#speech.subarray(frameBytes);
    return frame;
  }

  #play(): void {
    let missing = frameBytes;
    while (missing > 0) {
      const next = this.#queue.shift();
      if (next === undefined) break;
      const frame = next.subarray(0, missing);
      if (next.length > frame.length) this.#queue.unshift(next.subarray(frame.length));
      this.played.push({ atMs: this.#nowMs, frame });
      missing -= frame.length;
      this.#queuedBytes -= frame.length;
      this.#playedBytes += frame.length;
    }
    while (this.#marks[0] !== undefined && this.#marks[0].atBytes <= this.#playedBytes) {
      this.#marks.shift()?.settle('played');
    }
  }

  #media(): AudioMedia {
    return {
      kind: 'audio',
      law: this.#law,
      listen: (listener) => {
        this.#listener = listener;
      },
      play: (audio) => {
        if (this.#over || this.#queuedBytes + audio.length > maxQueuedBytes) return false;
        this.#queue.push(audio.slice());
        this.#queuedBytes += audio.length;
        return true;
      },
      clear: async () => {
        const droppedMs = this.#queuedBytes / 8;
        this.#queue = [];
        this.#queuedBytes = 0;
        for (const { settle } of this.#marks.splice(0)) settle('cleared');
        return { playedMs: this.#playedBytes / 8, droppedMs };
      },
      playedMs: () => this.#playedBytes / 8,
      mark: () => {
        if (this.#over) return Promise.resolve('cleared');
        if (this.#queuedBytes === 0) return Promise.resolve('played');
        return new Promise((settle) => {
          this.#marks.push({ atBytes: this.#playedBytes + this.#queuedBytes, settle });
        });
      },
      sendDigits: async (digits) => {
        this.pressed.push(digits);
      },
    };
  }
}

/** A carrier whose one callee always answers; `settled` is asked after every 20 ms. */
export function steppedCarrier(
  callee: Callee,
  settled: () => Promise<void>,
  law: Law = 'mu',
): Carrier<AudioMedia> & { readonly lines: SteppedLine[] } {
  const lines: SteppedLine[] = [];
  return {
    name: 'stepped',
    media: 'audio',
    lines,
    reaches: () => ({ ok: true }),
    forbids: () => null,
    onIncoming: () => undefined,
    reserve: async () => ({ kind: 'ready', release: async () => undefined }),
    states: () => [],
    async place() {
      const line = new SteppedLine(law);
      lines.push(line);
      void line.run(settled);
      void callee(line);
      return { kind: 'answered', leg: line.leg };
    },
    close: async () => undefined,
  };
}
