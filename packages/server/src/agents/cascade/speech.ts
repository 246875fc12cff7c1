/**
 * Says sentences on a leg that carries sound: each is made into sound and played while the next ones are made.
 *
 *   sentences ─▶ voice ─▶ at most 3 s ahead of what is played ─▶ the line
 *
 * - `hold` stops the sound at once; `resume` goes on with the sentence that was cut, from its beginning.
 * - What is made and not yet played is kept until it was, so a pause costs nothing.
 */
import { encodeG711 } from '@trunkcall/sip';
import type { AudioMedia, LegClock, Spoken } from '../../carriers/carrier.ts';
import { heardOf } from '../audio/sentences.ts';
import { untilAborted } from './pipe.ts';
import type { Said } from './floor.ts';
import type { Failure, Speaker } from './ports.ts';

/** How far ahead of the ear we make sound, milliseconds. */
const maxAheadMs = 3_000;
const bytesPerMs = 8;
/** So long a character takes at least, milliseconds: a sentence that is still being made is longer than its sound. */
const msPerCharacter = 50;

export interface SpeechOptions {
  readonly media: AudioMedia;
  readonly clock: LegClock;
  readonly speaker: Speaker;
  readonly sentences: AsyncIterable<string>;
}

interface Line {
  readonly text: string;
  readonly pieces: Uint8Array[];
  bytes: number;
  complete: boolean;
}

export class Speech {
  readonly #options: SpeechOptions;
  readonly #stop = new AbortController();
  /** From the sentence that is being played on. */
  #lines: Line[] = [];
  /** Sentences that were heard whole. */
  readonly #heard: string[] = [];
  /** What was played of the leg when the first of the lines began, milliseconds. */
  #baseMs: number;
  /** What was played of the leg when we last looked, milliseconds. */
  #playedMs = 0;
  #holding = false;
  /** Not all that was to be said was played. */
  #cutOff = true;
  #clearing: Promise<void> = Promise.resolve();
  #startedAtMs: number | null = null;
  /** What was played of the leg when we began. */
  readonly #beganFromMs: number;
  #firstMadeAtMs: number | null = null;
  #firstPlayedAtMs: number | null = null;
  /** Counts holds and stops, so that whoever waits sees that it must look again. */
  #changes = 0;
  #notice: () => void = () => undefined;

  constructor(options: SpeechOptions) {
    this.#options = options;
    this.#baseMs = options.media.playedMs();
    this.#beganFromMs = this.#baseMs;
  }

  /** Looks whether the first of it is on the line; asked every 20 ms. */
  tick(): void {
    if (this.#firstPlayedAtMs !== null || this.#firstMadeAtMs === null) return;
    const { media, clock } = this.#options;
    if (media.playedMs() > this.#beganFromMs) this.#firstPlayedAtMs = clock.now();
  }

  /** When its first sound was made and heard; null when nothing was heard. */
  get sound(): Said['sound'] {
    const [madeAtMs, playedAtMs] = [this.#firstMadeAtMs, this.#firstPlayedAtMs];
    return madeAtMs === null || playedAtMs === null ? null : { madeAtMs, playedAtMs };
  }

  /** Speaks until all was played (null), or it was stopped (null), or the voice failed. Called once. */
  async run(): Promise<Failure | null> {
    const { sentences, speaker } = this.#options;
    const { signal } = this.#stop;
    for await (const text of untilAborted(sentences, signal)) {
      const line: Line = { text, pieces: [], bytes: 0, complete: false };
      this.#lines.push(line);
      for await (const part of untilAborted(speaker.speak(text, signal), signal)) {
        if (part.kind === 'failed') return part;
        this.#add(line, part.pcm);
        await this.#room();
      }
      line.complete = true;
    }
    await this.#playedOut();
    return null;
  }

  /** Stops the sound at once; more is made, but not played. */
  hold(): void {
    if (this.#holding) return;
    this.#holding = true;
    this.#clearing = this.#options.media.clear().then(({ playedMs }) => this.#settle(playedMs));
    this.#change();
  }

  /** Goes on with the sentence that was cut. */
  resume(): void {
    void this.#clearing.then(() => {
      if (!this.#holding || this.#stop.signal.aborted) return;
      this.#holding = false;
      this.#baseMs = this.#options.media.playedMs();
      for (const { pieces } of this.#lines) for (const piece of pieces) this.#play(piece);
      this.#change();
    });
  }

  /** Ends it, and tells what was heard of it. */
  async end(): Promise<Spoken> {
    const { media, clock } = this.#options;
    this.#stop.abort();
    this.#change();
    await this.#clearing;
    if (!this.#holding) this.#settle((await media.clear()).playedMs);
    return this.#heardBy(clock.now());
  }

  /** What was heard of it so far. */
  soFar(): Spoken {
    const { media, clock } = this.#options;
    if (!this.#holding) this.#settle(media.playedMs());
    return this.#heardBy(clock.now());
  }

  #heardBy(endedAtMs: number): Spoken {
    const [cut] = this.#lines;
    const words =
      cut === undefined ? '' : heardOf(cut.text, this.#shareOf(cut, this.#playedMs - this.#baseMs));
    const heard = [...this.#heard, words].filter((part) => part !== '').join(' ');
    return { heard, startedAtMs: this.#startedAtMs ?? endedAtMs, endedAtMs, interrupted: this.#cutOff };
  }

  #add(line: Line, pcm: Int16Array): void {
    const piece = encodeG711(this.#options.media.law === 'mu' ? 'PCMU' : 'PCMA', pcm);
    this.#firstMadeAtMs ??= this.#options.clock.now();
    line.pieces.push(piece);
    line.bytes += piece.length;
    if (!this.#holding) this.#play(piece);
  }

  #play(piece: Uint8Array): void {
    this.#startedAtMs ??= this.#options.clock.now();
    this.#options.media.play(piece);
  }

  /** Forgets the sentences that were played whole by then. */
  #settle(playedMs: number): void {
    this.#playedMs = playedMs;
    for (;;) {
      const [line] = this.#lines;
      // Its end is as good as heard within the last millisecond.
      if (line?.complete !== true || this.#baseMs + line.bytes / bytesPerMs > playedMs + 1) return;
      this.#lines.shift();
      this.#heard.push(line.text);
      this.#baseMs += line.bytes / bytesPerMs;
    }
  }

  #shareOf({ text, bytes, complete }: Line, playedMs: number): number {
    const madeMs = bytes / bytesPerMs;
    return playedMs / (complete ? madeMs : Math.max(madeMs, text.length * msPerCharacter));
  }

  /** Waits until no more than `maxAheadMs` is made and not played. */
  async #room(): Promise<void> {
    for (;;) {
      if (this.#stop.signal.aborted) return;
      if (!this.#holding) this.#settle(this.#options.media.playedMs());
      const madeMs = this.#lines.reduce((sum, { bytes }) => sum + bytes, 0) / bytesPerMs;
      const playedMs = this.#holding ? 0 : this.#options.media.playedMs() - this.#baseMs;
      const tooMuchMs = madeMs - playedMs - maxAheadMs;
      if (tooMuchMs <= 0) return;
      await this.#changedWithin(this.#holding ? null : tooMuchMs);
    }
  }

  async #playedOut(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const before = this.#changes;
      const how = this.#holding ? 'cleared' : await this.#options.media.mark();
      if (how === 'played' && before === this.#changes) {
        this.#cutOff = false;
        return this.#settle(Infinity);
      }
      // Dropped with the end of the leg, or held: whoever did it says what comes next.
      if (before === this.#changes) await this.#changedWithin(null);
    }
  }

  /** Resolves with the next change, or after so many milliseconds. */
  async #changedWithin(ms: number | null): Promise<void> {
    const done = new AbortController();
    const changed = new Promise<void>((resolve) => {
      this.#notice = resolve;
    });
    if (this.#stop.signal.aborted) return;
    if (ms === null) return changed;
    await Promise.race([changed, this.#options.clock.sleep(ms, done.signal)]);
    done.abort();
  }

  #change(): void {
    this.#changes += 1;
    this.#notice();
  }
}
