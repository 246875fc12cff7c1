/**
 * A telephone line that carries sound, in virtual time, and whoever holds its other end. Nothing leaves the process.
 *
 * The line knows which sentence is being played by the sound that the synthesizer made for it, so that the callee
 * can act on what it hears.
 */
import { createHash } from 'node:crypto';
import { encodeG711 } from '@trunkcall/sip';
import type { Synthesizer } from '../../src/agents/audio/synthesizer.ts';
import type { AudioListener, AudioMedia, Carrier, Leg, LegEnd } from '../../src/carriers/carrier.ts';
import { VirtualTime } from '../../src/carriers/simulated/virtual-time.ts';
import { systemClock } from '../../src/platform/clock.ts';

const frameMs = 20;
const frameBytes = 160;
const samplesPerCharacter = 480;

interface Piece {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

interface Mark {
  readonly at: number;
  readonly settle: (how: 'played' | 'cleared') => void;
}

export type Callee = (line: AudioLine) => Promise<void>;

/** Speaks noise: 60 ms a character, and never twice the same. */
export function noiseSynthesizer(): Synthesizer {
  const random = seededNoise(7);
  return {
    async speak(text) {
      const pcm = Int16Array.from({ length: text.length * samplesPerCharacter }, () => 4_000 * random());
      return { kind: 'speech', pcm };
    },
  };
}

/** The synthesizer, and what it was that some audio of it says. */
export function known(synthesizer: Synthesizer): {
  synthesizer: Synthesizer;
  textOf: (audio: Uint8Array) => string;
} {
  const texts = new Map<string, string>();
  const idOf = (audio: Uint8Array) => createHash('sha1').update(audio).digest('hex');
  return {
    synthesizer: {
      async speak(text, locale) {
        const made = await synthesizer.speak(text, locale);
        if (made.kind === 'failed') return made;
        for (const codec of ['PCMU', 'PCMA'] as const) texts.set(idOf(encodeG711(codec, made.pcm)), text);
        return made;
      },
    },
    textOf: (audio) => texts.get(idOf(audio)) ?? '?',
  };
}

/** Between -1 and 1. */
function seededNoise(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 1_073_741_824 - 1;
  };
}

export class AudioLine {
  /** Sentences that were played to their end. */
  readonly heard: string[] = [];
  readonly leg: Leg<AudioMedia>;
  readonly time = new VirtualTime(systemClock, Infinity);
  readonly #law: 'mu' | 'a';
  readonly #textOf: (audio: Uint8Array) => string;
  readonly #noise = seededNoise(11);
  readonly #ended = Promise.withResolvers<LegEnd>();
  #pieces: Piece[] = [];
  #marks: Mark[] = [];
  #waiting: { ready: () => boolean; settle: (ready: boolean) => void }[] = [];
  #listener: AudioListener | null = null;
  /** Bytes that were queued and played or dropped, and those that were played. */
  #accepted = 0;
  #passed = 0;
  #played = 0;
  #voiceUntilMs = 0;
  #over = false;

  constructor(law: 'mu' | 'a', textOf: (audio: Uint8Array) => string) {
    this.#law = law;
    this.#textOf = textOf;
    this.leg = {
      providerCallId: null,
      clock: { now: () => this.time.now, sleep: (ms, signal) => this.time.sleep(ms, signal) },
      media: this.#media(),
      ended: this.#ended.promise,
      hangUp: () => this.#end('us'),
    };
    void this.time.whileWaiting(this.leg.ended);
    this.time.schedule(frameMs, (due) => this.#tick(due));
  }

  /** The sentence that is being played. */
  get playing(): string {
    return this.#pieces.find(({ from, to }) => from <= this.#passed && this.#passed < to)?.text ?? '';
  }

  /** How much of it was played, milliseconds. */
  get playingMs(): number {
    const piece = this.#pieces.find(({ from, to }) => from <= this.#passed && this.#passed < to);
    return piece === undefined ? 0 : (this.#passed - piece.from) / 8;
  }

  /** Resolves `true` when it holds after a frame, `false` at the end of the call. */
  until(ready: () => boolean): Promise<boolean> {
    if (this.#over) return Promise.resolve(false);
    return new Promise((settle) => this.#waiting.push({ ready, settle }));
  }

  async press(keys: string): Promise<void> {
    for (const key of keys) {
      await this.time.sleep(120);
      this.#listener?.key(key);
    }
  }

  /** Makes a sound like a voice for so long, and waits until it is over. */
  async speak(ms: number): Promise<void> {
    this.#voiceUntilMs = this.time.now + ms;
    await this.time.sleep(ms);
  }

  beep(): void {
    this.#listener?.beep();
  }

  informationTone(): void {
    this.#listener?.informationTone();
  }

  hangUp(): void {
    void this.#end('callee');
  }

  #media(): AudioMedia {
    return {
      kind: 'audio',
      law: this.#law,
      listen: (listener) => {
        this.#listener = listener;
      },
      play: (audio) => {
        if (this.#over) return false;
        this.#pieces.push({
          text: this.#textOf(audio),
          from: this.#accepted,
          to: this.#accepted + audio.length,
        });
        this.#accepted += audio.length;
        return true;
      },
      clear: async () => this.#clear(),
      playedMs: () => this.#played / 8,
      mark: () => {
        if (this.#over) return Promise.resolve('cleared');
        if (this.#passed >= this.#accepted) return Promise.resolve('played');
        return new Promise((settle) => this.#marks.push({ at: this.#accepted, settle }));
      },
      sendDigits: async () => undefined,
    };
  }

  #clear(): { playedMs: number; droppedMs: number } {
    const dropped = this.#accepted - this.#passed;
    this.#passed = this.#accepted;
    this.#pieces = [];
    for (const { settle } of this.#marks.splice(0)) settle('cleared');
    return { playedMs: this.#played / 8, droppedMs: dropped / 8 };
  }

  #tick(due: boolean): void {
    if (!due || this.#over) return;
    this.time.schedule(frameMs, (again) => this.#tick(again));
    const step = Math.min(frameBytes, this.#accepted - this.#passed);
    this.#passed += step;
    this.#played += step;
    while (this.#pieces[0] !== undefined && this.#pieces[0].to <= this.#passed) {
      this.heard.push(this.#pieces.shift()?.text ?? '');
    }
    while (this.#marks[0] !== undefined && this.#marks[0].at <= this.#passed)
      this.#marks.shift()?.settle('played');
    this.#listener?.frame(this.#frame());
    const ready = this.#waiting.filter((each) => each.ready());
    this.#waiting = this.#waiting.filter((each) => !ready.includes(each));
    for (const { settle } of ready) settle(true);
  }

  /** Syllables of 160 ms with gaps of 40 ms, above the faint noise of the line. */
  #frame(): Uint8Array {
    const speaking = this.time.now <= this.#voiceUntilMs && this.time.now % 200 < 160;
    const loudness = speaking ? 6_000 : 30;
    const samples = Int16Array.from({ length: frameBytes }, () => loudness * this.#noise());
    return encodeG711(this.#law === 'mu' ? 'PCMU' : 'PCMA', samples);
  }

  #end(endedBy: 'us' | 'callee'): Promise<LegEnd> {
    if (!this.#over) {
      this.#over = true;
      this.#ended.resolve({ reason: 'hung_up', endedBy, sipStatus: null, q850: 16 });
      for (const { settle } of this.#marks.splice(0)) settle('cleared');
      for (const { settle } of this.#waiting.splice(0)) settle(false);
      this.time.stop();
    }
    return this.#ended.promise;
  }
}

/** A carrier whose one callee always answers, and the synthesizer that its lines understand. */
export function audioCarrier(
  callee: Callee,
  law: 'mu' | 'a' = 'mu',
  speaker = noiseSynthesizer(),
): { carrier: Carrier<AudioMedia>; synthesizer: Synthesizer } {
  const { synthesizer, textOf } = known(speaker);
  const carrier: Carrier<AudioMedia> = {
    name: 'audio',
    media: 'audio',
    reaches: () => ({ ok: true }),
    forbids: () => null,
    onIncoming: () => undefined,
    reserve: async () => ({ kind: 'ready', release: async () => undefined }),
    states: () => [],
    async place() {
      const line = new AudioLine(law, textOf);
      void callee(line);
      return { kind: 'answered', leg: line.leg };
    },
    close: async () => undefined,
  };
  return { carrier, synthesizer };
}

/**
 * A person who says hello and then presses keys: the first entry whose pattern fits the sentence that was just
 * played. An entry with several answers gives them one after the other; the last one stays.
 */
export function person(answers: readonly (readonly [RegExp, ...string[]])[]): Callee {
  return async (line) => {
    const left = answers.map(([pattern, ...keys]) => ({ pattern, keys }));
    await line.time.sleep(400);
    await line.speak(600);
    for (let known = 0; await line.until(() => line.heard.length > known);) {
      known += 1;
      const sentence = line.heard[known - 1] ?? '';
      const entry = left.find(({ pattern }) => pattern.test(sentence));
      const keys = entry === undefined || entry.keys.length > 1 ? entry?.keys.shift() : entry.keys[0];
      if (keys === undefined) continue;
      await line.time.sleep(500);
      await line.press(keys);
    }
  };
}
