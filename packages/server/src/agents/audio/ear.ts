/**
 * What a leg that carries sound lets us hear without understanding words: keys, a voice, an answering machine's
 * beep, the network's tones before an announcement.
 *
 *   the line ──▶ kept in order, at most 32 ──▶ hear        a key, a voice, a tone ──▶ whoever speaks for us stops
 */
import { decodeG711, FRAME_SAMPLES } from '@trunkcall/sip';
import type { AudioMedia, Leg } from '../../carriers/carrier.ts';
import { hangOverMs, VoiceActivity } from './voice-activity.ts';

export type AudioHeard = Entry | Voice | Tone | { readonly kind: 'silence' } | { readonly kind: 'left' };

/** Keys that belong together, `0-9*#` each. */
interface Entry {
  readonly kind: 'keys';
  readonly digits: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

/** Somebody spoke. A longer speech comes in parts of `voicePartMs`. */
interface Voice {
  readonly kind: 'voice';
  readonly startedAtMs: number;
  readonly endedAtMs: number;
}

interface Tone {
  readonly kind: 'beep' | 'information_tone';
  readonly atMs: number;
}

type Sound = Voice | Tone | { readonly kind: 'key'; readonly key: string; readonly atMs: number };

/** Who may cut us short: whoever presses a key, or also whoever speaks. A tone always does. */
export type Interrupter = 'keys' | 'keys_and_voice';

export interface Interruption {
  /** Whether we were cut short, or the leg has ended. */
  readonly happened: boolean;
  /** Resolves when that is so. */
  readonly promise: Promise<void>;
}

/** A voice that lasts this long without a pause is told at once, milliseconds. */
export const voicePartMs = 4_000;
/** A voice cuts us short when it lasts: a cough or an echo of ours does not. */
const interruptsAfterMs = 500;
const nextKeyWithinMs = 3_000;
const maxKept = 32;

/** Listens to a leg from its making on. */
export class Ear {
  readonly #leg: Leg<AudioMedia>;
  readonly #voice = new VoiceActivity();
  readonly #samples = new Int16Array(FRAME_SAMPLES);
  readonly #kept: Sound[] = [];
  /** Wakes whoever waits in `hear`. */
  #notice: () => void = () => undefined;
  #cutShort: (() => void) | null = null;
  #interrupter: Interrupter = 'keys';
  #over = false;
  /** Leg time at which we last began to speak: what is heard after that did not begin before. */
  #spokeAtMs = 0;
  /** Leg time at which the voice began, or its last part ended. */
  #voiceSinceMs = 0;

  /** `onTick` is told with every frame, before it is heard. */
  constructor(leg: Leg<AudioMedia>, onTick: () => void) {
    this.#leg = leg;
    leg.media.listen({
      frame: (frame) => {
        onTick();
        this.#takeFrame(frame);
      },
      key: (key) => this.#takeKey(key),
      beep: () => this.#takeTone('beep'),
      informationTone: () => this.#takeTone('information_tone'),
    });
    void leg.ended.then(() => {
      this.#over = true;
      this.#cutShort?.();
      this.#notice();
    });
  }

  /**
   * Waits for the callee, at most `withinMs`; who speaks or enters keys by then is heard out. An entry of keys is
   * complete with `maxKeys` keys, with `#`, with a leading `*`, or when no key follows for 3 s. One wait at a time.
   */
  async hear(withinMs: number, maxKeys: number): Promise<AudioHeard> {
    await this.#wait(withinMs);
    const first = this.#kept.shift();
    if (first === undefined) return { kind: this.#over ? 'left' : 'silence' };
    return first.kind === 'key' ? this.#entry(first.key, first.atMs, maxKeys) : first;
  }

  /** Lets what comes from now on cut us short. What was said before we begin to speak answers nothing, and is dropped. */
  beginSpeech(interrupter: Interrupter): Interruption {
    this.#spokeAtMs = this.#leg.clock.now();
    this.#dropVoices();
    this.#interrupter = interrupter;
    const { promise, resolve } = Promise.withResolvers<void>();
    const interruption = { happened: false, promise };
    this.#cutShort = () => {
      interruption.happened = true;
      resolve();
    };
    if (this.#over || this.#kept.length > 0) this.#cutShort();
    return interruption;
  }

  /** We have said all, or were cut short. Who spoke meanwhile without cutting us short is not heard. */
  endSpeech({ happened }: Interruption): void {
    this.#cutShort = null;
    if (!happened) this.#dropVoices();
  }

  async #entry(key: string, startedAtMs: number, maxKeys: number): Promise<Entry> {
    let digits = key;
    let endedAtMs = startedAtMs;
    while (!isComplete(digits, maxKeys)) {
      await this.#wait(nextKeyWithinMs);
      const [next] = this.#kept;
      if (next?.kind !== 'key') break;
      this.#kept.shift();
      digits += next.key;
      endedAtMs = next.atMs;
    }
    return { kind: 'keys', digits, startedAtMs, endedAtMs };
  }

  /** Resolves when something is kept, at the end of the leg, and when the time is up and nobody is speaking. */
  async #wait(withinMs: number): Promise<void> {
    const done = new AbortController();
    const patience = { over: false };
    void this.#leg.clock.sleep(withinMs, done.signal).then((due) => {
      patience.over = due;
      if (due) this.#notice();
    });
    while (this.#kept.length === 0 && !this.#over && (!patience.over || this.#voice.speaking)) {
      await new Promise<void>((resolve) => {
        this.#notice = resolve;
      });
    }
    done.abort();
  }

  #takeFrame(frame: Uint8Array): void {
    const codec = this.#leg.media.law === 'mu' ? 'PCMU' : 'PCMA';
    const change = this.#voice.next(decodeG711(codec, frame, this.#samples));
    const now = this.#leg.clock.now();
    if (change === 'began') this.#voiceSinceMs = now - this.#voice.lastingMs;
    if (change === 'ended') {
      this.#keepVoice(now - hangOverMs);
      this.#notice();
    }
    if (!this.#voice.speaking) return;
    if (now - this.#voiceSinceMs >= voicePartMs) this.#keepVoice(now);
    const lasts = this.#voice.lastingMs >= interruptsAfterMs;
    if (lasts && this.#interrupter === 'keys_and_voice') this.#cutShort?.();
  }

  #takeKey(key: string): void {
    // A key may sound on the line as well, and is no voice.
    this.#voice.reset();
    if (/^[0-9*#]$/.test(key)) this.#keep({ kind: 'key', key, atMs: this.#leg.clock.now() });
  }

  #takeTone(kind: Tone['kind']): void {
    this.#voice.reset();
    this.#keep({ kind, atMs: this.#leg.clock.now() });
  }

  #keepVoice(endedAtMs: number): void {
    const startedAtMs = Math.max(this.#voiceSinceMs, this.#spokeAtMs);
    this.#voiceSinceMs = endedAtMs;
    if (endedAtMs > startedAtMs) this.#keep({ kind: 'voice', startedAtMs, endedAtMs });
  }

  #keep(sound: Sound): void {
    this.#kept.push(sound);
    if (this.#kept.length > maxKept) this.#kept.shift();
    if (sound.kind !== 'voice') this.#cutShort?.();
    this.#notice();
  }

  #dropVoices(): void {
    const others = this.#kept.filter(({ kind }) => kind !== 'voice');
    this.#kept.splice(0, this.#kept.length, ...others);
  }
}

function isComplete(digits: string, maxKeys: number): boolean {
  return digits.length >= maxKeys || digits === '*' || digits.endsWith('#');
}
