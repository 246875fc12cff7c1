/**
 * A leg whose callee writes: sentences of ours are read, sentences of theirs are typed.
 *
 * Y1  Who writes takes longer than who speaks: a second of the leg's clock lasts `slowness` seconds, so that an agent
 *     is as patient as it would be on the telephone.
 * Y2  Our sentence takes an eighth of the time that it would be spoken in, a second at most. What is sent meanwhile
 *     cuts it short, as a callee's voice would.
 * Y3  Somebody who has begun to write, or to press keys, is waited for.
 * Y4  What was sent before the end can still be heard after it.
 */
import { assert } from '../../platform/assert.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Heard, Leg, SpeechMedia, Spoken } from '../carrier.ts';
import { saidAfter, speechMs } from '../simulated/line.ts';
import { LabCall } from './lab-call.ts';

/** Milliseconds in a millisecond of the leg. */
export const slowness = 4;
const quickness = 8;
const longestSayingMs = 1_000;
/** Keys belong together when no more than this lies between them, milliseconds. */
const keyPauseMs = 1_500;
const maxKeys = 32;
/** What was not heard yet; the oldest goes first. */
const maxKept = 32;

type Sound = Exclude<Heard, { kind: 'silence' | 'left' }>;

interface Entry {
  readonly digits: string;
  readonly startedAtMs: number;
  /** Aborted when another key follows. */
  readonly followed: AbortController;
}

export interface TypedLineOptions {
  readonly clock: Clock;
  /** Told which keys our side pressed. */
  readonly onKeys: (digits: string) => void;
}

export class TypedLine {
  readonly leg: Leg<SpeechMedia>;
  readonly #call: LabCall;
  readonly #kept: Sound[] = [];
  #listener: ((heard: Heard) => void) | null = null;
  #patienceOver = false;
  /** Leg time; null while nobody writes. */
  #writingSinceMs: number | null = null;
  #entry: Entry | null = null;
  /** Aborted when our sentence is cut short. */
  #saying: AbortController | null = null;

  constructor({ clock, onKeys }: TypedLineOptions) {
    this.#call = new LabCall(clock, slowness);
    this.leg = {
      providerCallId: null,
      clock: this.#call.clock,
      ended: this.#call.ended,
      hangUp: () => this.#call.end('us'),
      media: {
        kind: 'speech',
        say: (text) => this.#say(text),
        hear: (withinMs) => this.#hear(withinMs),
        sendDigits: async (digits) => {
          assert(/^[0-9*#]{1,32}$/.test(digits), 'digits are 0-9, * and #');
          if (!this.#call.over.aborted) onKeys(digits);
        },
      },
    };
    this.#call.over.addEventListener('abort', () => {
      this.#endEntry();
      this.#listener?.(this.#kept.shift() ?? { kind: 'left' });
    });
  }

  /** The callee says something. */
  say(text: string): void {
    if (this.#call.over.aborted) return;
    const endedAtMs = this.leg.clock.now();
    const startedAtMs = this.#writingSinceMs ?? endedAtMs;
    this.#writingSinceMs = null;
    this.#endEntry();
    this.#receive({ kind: 'utterance', text, startedAtMs, endedAtMs });
  }

  /** The callee has begun to write, or has thought better of it. */
  typing(isTyping: boolean): void {
    this.#writingSinceMs = isTyping ? (this.#writingSinceMs ?? this.leg.clock.now()) : null;
    this.#giveUpWaiting();
  }

  /** The callee says nothing; whoever waits need wait no longer. */
  sayNothing(): void {
    this.#listener?.({ kind: 'silence' });
  }

  /** The callee presses keys; those that follow each other make one entry, complete with `#`. */
  press(digits: string): void {
    if (this.#call.over.aborted) return;
    this.#saying?.abort();
    this.#entry?.followed.abort();
    const before = this.#entry;
    const followed = new AbortController();
    const startedAtMs = before?.startedAtMs ?? this.leg.clock.now();
    const all = `${before?.digits ?? ''}${digits}`.slice(0, maxKeys);
    this.#entry = { digits: all, startedAtMs, followed };
    if (all.endsWith('#')) return this.#endEntry();
    void this.leg.clock.sleep(keyPauseMs / slowness, followed.signal).then((due) => {
      if (due) this.#endEntry();
    });
  }

  beep(): void {
    if (this.#call.over.aborted) return;
    this.#receive({ kind: 'beep', atMs: this.leg.clock.now() });
  }

  hangUp(): void {
    void this.#call.end('callee');
  }

  async #say(text: string): Promise<Spoken> {
    assert(this.#saying === null, 'one sentence is said at a time');
    const { clock } = this.leg;
    const startedAtMs = clock.now();
    if (this.#call.over.aborted) return { heard: '', startedAtMs, endedAtMs: startedAtMs, interrupted: true };
    const cut = new AbortController();
    this.#saying = cut;
    const takesMs = Math.min(speechMs(text) / quickness, longestSayingMs) / slowness;
    const whole = await clock.sleep(takesMs, cut.signal);
    this.#saying = null;
    const endedAtMs = clock.now();
    const share = Math.min(1, (endedAtMs - startedAtMs) / takesMs);
    const heard = whole ? text : saidAfter(text, share * speechMs(text));
    return { heard, startedAtMs, endedAtMs, interrupted: heard !== text };
  }

  #hear(withinMs: number): Promise<Heard> {
    assert(this.#listener === null, 'one waits for words at a time');
    const kept = this.#kept.shift();
    if (kept !== undefined) return Promise.resolve(kept);
    if (this.#call.over.aborted) return Promise.resolve({ kind: 'left' });
    return new Promise((resolve) => {
      const heard = new AbortController();
      this.#patienceOver = false;
      this.#listener = (sound) => {
        this.#listener = null;
        heard.abort();
        resolve(sound);
      };
      void this.leg.clock.sleep(withinMs, heard.signal).then((due) => {
        if (!due || heard.signal.aborted) return;
        this.#patienceOver = true;
        this.#giveUpWaiting();
      });
    });
  }

  #giveUpWaiting(): void {
    const begun = this.#writingSinceMs !== null || this.#entry !== null;
    if (this.#patienceOver && !begun) this.#listener?.({ kind: 'silence' });
  }

  #endEntry(): void {
    const entry = this.#entry;
    if (entry === null) return;
    this.#entry = null;
    entry.followed.abort();
    const { digits, startedAtMs } = entry;
    this.#receive({ kind: 'utterance', text: `[${digits}]`, startedAtMs, endedAtMs: this.leg.clock.now() });
  }

  #receive(sound: Sound): void {
    this.#saying?.abort();
    if (this.#listener !== null) return this.#listener(sound);
    this.#kept.push(sound);
    if (this.#kept.length > maxKept) this.#kept.shift();
  }
}
