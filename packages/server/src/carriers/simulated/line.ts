/**
 * The line between our side and a simulated person: who speaks when, who cuts whom short, and the end.
 *
 * L1  One sound at a time: whoever starts to speak cuts the other short, except that our side never starts over
 *     a speaking person (it is cut before its first word).
 * L2  What was cut is heard up to its last whole word.
 * L3  Somebody who began to speak while the other listened is heard out.
 * L4  What was heard before the end can still be fetched after it.
 */
import { assert } from '../../platform/assert.ts';
import type { LegEnd, Spoken } from '../carrier.ts';
import type { Timer, VirtualTime } from './virtual-time.ts';

/** Sounds kept for a side that does not listen; the oldest goes first. */
const maxKept = 32;

export type Sound =
  | {
      readonly kind: 'utterance';
      readonly text: string;
      readonly startedAtMs: number;
      readonly endedAtMs: number;
    }
  | { readonly kind: 'beep'; readonly atMs: number }
  | { readonly kind: 'digits'; readonly digits: string };
export type Sensed = Sound | { readonly kind: 'silence' } | { readonly kind: 'left' };

interface Speech {
  readonly text: string;
  readonly startedAtMs: number;
  readonly timer: Timer;
  readonly finish: (spoken: Spoken) => void;
}

/** How long a sentence takes: a breath, and about fourteen characters a second. */
export function speechMs(text: string): number {
  return 250 + 70 * text.length;
}

/** The whole words that were said after `elapsedMs`. */
export function saidAfter(text: string, elapsedMs: number): string {
  const length = Math.max(0, Math.floor((elapsedMs - 250) / 70));
  if (length >= text.length) return text;
  const cut = text.lastIndexOf(' ', length);
  return cut <= 0 ? '' : text.slice(0, cut);
}

/** One end of the line. */
export class Side {
  readonly #line: Line;
  readonly #yields: boolean;
  readonly #kept: Sound[] = [];
  #speech: Speech | null = null;
  #listener: ((sensed: Sensed) => void) | null = null;
  #patienceOver = false;
  #speechNoticed: ((spoke: boolean) => void)[] = [];

  /** A side that yields does not start to speak over the other. */
  constructor(line: Line, yields: boolean) {
    this.#line = line;
    this.#yields = yields;
  }

  get speaking(): boolean {
    return this.#speech !== null;
  }

  /** Says `text`; resolves when it is over or was cut short. `endless` speech is over only when it is cut. */
  say(text: string, endless = false): Promise<Spoken> {
    assert(!this.speaking, 'a side says one thing at a time');
    const startedAtMs = this.#line.clockMs;
    const other = this.#line.other(this);
    if (this.#line.over || (this.#yields && other.speaking)) {
      return Promise.resolve({ heard: '', startedAtMs, endedAtMs: startedAtMs, interrupted: true });
    }
    other.cutShort();
    return new Promise((finish) => {
      const timer = this.#line.time.schedule(endless ? 24 * 3_600_000 : speechMs(text), (due) => {
        if (due) this.#endSpeech(text, false);
      });
      this.#speech = { text, startedAtMs, timer, finish };
      for (const notice of other.#speechNoticed.splice(0)) notice(true);
    });
  }

  /** Ends our sentence where it stands. Safe to repeat. */
  cutShort(): void {
    if (this.#speech === null) return;
    this.#line.time.cancel(this.#speech.timer);
    this.#endSpeech(saidAfter(this.#speech.text, this.#line.clockMs - this.#speech.startedAtMs), true);
  }

  /** Waits for the next sound, at most `withinMs`; a sentence that has begun by then is heard out (L3). */
  hear(withinMs: number): Promise<Sensed> {
    assert(this.#listener === null, 'a side listens once at a time');
    const kept = this.#kept.shift();
    if (kept !== undefined) return Promise.resolve(kept);
    if (this.#line.over) return Promise.resolve({ kind: 'left' });
    return new Promise((resolve) => {
      this.#patienceOver = false;
      const timer = this.#line.time.schedule(withinMs, (due) => {
        if (!due) return;
        this.#patienceOver = true;
        if (!this.#line.other(this).speaking) this.#listener?.({ kind: 'silence' });
      });
      this.#listener = (sensed) => {
        this.#line.time.cancel(timer);
        this.#listener = null;
        resolve(sensed);
      };
    });
  }

  /** Resolves `true` as soon as the other side speaks; `false` at the end of the call. */
  notice(): Promise<boolean> {
    if (this.#line.over) return Promise.resolve(false);
    if (this.#line.other(this).speaking) return Promise.resolve(true);
    return new Promise((resolve) => this.#speechNoticed.push(resolve));
  }

  /** Makes the other side hear something. */
  emit(sound: Sound): void {
    this.#line.other(this).#receive(sound);
  }

  /** Ends all that this side waits for. */
  leave(): void {
    for (const notice of this.#speechNoticed.splice(0)) notice(false);
    this.#listener?.({ kind: 'left' });
  }

  #receive(sound: Sound): void {
    if (this.#listener !== null) return this.#listener(sound);
    this.#kept.push(sound);
    if (this.#kept.length > maxKept) this.#kept.shift();
  }

  #endSpeech(heard: string, interrupted: boolean): void {
    const speech = this.#speech;
    assert(speech !== null, 'something was being said');
    this.#speech = null;
    const endedAtMs = this.#line.clockMs;
    if (heard !== '') {
      this.emit({ kind: 'utterance', text: heard, startedAtMs: speech.startedAtMs, endedAtMs });
    } else {
      this.#line.other(this).#heardNothing();
    }
    speech.finish({ heard, startedAtMs: speech.startedAtMs, endedAtMs, interrupted });
  }

  /** Ends a wait that only went on because the other side was speaking. */
  #heardNothing(): void {
    if (this.#patienceOver) this.#listener?.({ kind: 'silence' });
  }
}

export class Line {
  readonly time: VirtualTime;
  readonly us: Side;
  readonly callee: Side;
  readonly ended: Promise<LegEnd>;
  readonly #answeredAtMs: number;
  readonly #resolveEnded: (end: LegEnd) => void;
  #over = false;

  constructor(time: VirtualTime) {
    this.time = time;
    this.us = new Side(this, true);
    this.callee = new Side(this, false);
    this.#answeredAtMs = time.now;
    const ended = Promise.withResolvers<LegEnd>();
    this.ended = ended.promise;
    this.#resolveEnded = ended.resolve;
  }

  /** Milliseconds since the answer. */
  get clockMs(): number {
    return this.time.now - this.#answeredAtMs;
  }

  get over(): boolean {
    return this.#over;
  }

  other(side: Side): Side {
    return side === this.us ? this.callee : this.us;
  }

  /** Ends the call. The first end counts. Safe to repeat. */
  end(end: LegEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.us.cutShort();
    this.callee.cutShort();
    this.us.leave();
    this.callee.leave();
    this.#resolveEnded(end);
    this.time.stop();
  }
}
