/**
 * A leg whose callee sits at a browser with a microphone: sound both ways in frames of 20 ms, as on a telephone line.
 *
 *   agent ── play ──▶ queue ── every 20 ms ──▶ the page
 *   agent ◀─ frame ── every 20 ms ◀── arrivals ◀── the page
 *
 * "Played" means handed to the page in real time. When the agent drops what waits, the page drops the little that it
 * holds itself. A page that sends nothing for `silenceLimitMs` has lost its sound; one that is muted sends silence.
 */
import { FRAME_MS, FRAME_SAMPLES } from '@trunkcall/sip';
import { assert } from '../../platform/assert.ts';
import type { Clock } from '../../platform/clock.ts';
import type { AudioListener, AudioMedia, Leg } from '../carrier.ts';
import { LabCall } from './lab-call.ts';
import { ArrivalBuffer, PlayQueue } from './sound-queues.ts';

/** 20 ms of sound. */
export const frameBytes = FRAME_SAMPLES;
const silenceLimitMs = 10_000;
/** Keys and beeps kept for the first listener. */
const maxKept = 64;
/** A press and the pause behind it, milliseconds. */
const keyMs = 200;

export interface SpokenLineOptions {
  readonly clock: Clock;
  /** Takes 20 ms of sound for the callee, in real time. */
  readonly onSound: (frame: Uint8Array) => void;
  /** Told that what the callee did not hear yet is not to be heard. */
  readonly onClear: () => void;
  /** Told which keys our side pressed. */
  readonly onKeys: (digits: string) => void;
}

type Told = (listener: AudioListener) => void;

export class SpokenLine {
  readonly leg: Leg<AudioMedia>;
  readonly #call: LabCall;
  readonly #options: SpokenLineOptions;
  readonly #queue = new PlayQueue();
  readonly #arrivals = new ArrivalBuffer();
  #listener: AudioListener | null = null;
  #kept: Told[] = [];
  #lastArrivalMs = 0;

  constructor(options: SpokenLineOptions) {
    this.#options = options;
    this.#call = new LabCall(options.clock);
    this.#call.over.addEventListener('abort', () => this.#queue.close());
    this.leg = {
      providerCallId: null,
      clock: this.#call.clock,
      ended: this.#call.ended,
      hangUp: () => this.#call.end('us'),
      media: this.#media(),
    };
    void this.#beat();
  }

  /** Takes 20 ms of the callee's sound; the bytes are kept. */
  frame(sound: Uint8Array): void {
    assert(sound.length === frameBytes, 'a frame has 160 bytes');
    this.#lastArrivalMs = this.#call.clock.now();
    this.#arrivals.push(sound);
  }

  press(digits: string): void {
    for (const key of digits) this.#tell((listener) => listener.key(key));
  }

  beep(): void {
    this.#tell((listener) => listener.beep());
  }

  hangUp(): void {
    void this.#call.end('callee');
  }

  #media(): AudioMedia {
    return {
      kind: 'audio',
      law: 'mu',
      listen: (listener) => {
        this.#listener = listener;
        for (const told of this.#kept.splice(0)) told(listener);
      },
      play: (audio) => this.#queue.play(audio),
      clear: async () => {
        const cleared = this.#queue.clear();
        // After the last word nothing is dropped here, and the page's rest of it is still to be heard.
        if (cleared.droppedMs > 0) this.#options.onClear();
        return cleared;
      },
      playedMs: () => this.#queue.playedMs,
      mark: () => this.#queue.mark(),
      sendDigits: async (digits) => {
        assert(/^[0-9*#]{1,32}$/.test(digits), 'digits are 0-9, * and #');
        if (this.#call.over.aborted) return;
        this.#options.onKeys(digits);
        await this.#call.clock.sleep(keyMs * digits.length);
      },
    };
  }

  #tell(told: Told): void {
    if (this.#call.over.aborted) return;
    if (this.#listener !== null) told(this.#listener);
    else if (this.#kept.length < maxKept) this.#kept.push(told);
  }

  /** Every beat has its place on a grid, so that no error adds up; beats that were missed are skipped. */
  async #beat(): Promise<void> {
    const { clock } = this.#options;
    const origin = clock.monotonic();
    for (let beat = 1; ; beat += 1) {
      const dueInMs = origin + beat * FRAME_MS - clock.monotonic();
      if (!(await clock.sleep(Math.max(0, dueInMs), this.#call.over))) return;
      this.#exchange();
      beat = Math.max(beat, Math.floor((clock.monotonic() - origin) / FRAME_MS));
    }
  }

  #exchange(): void {
    const sound = this.#queue.next();
    if (sound !== null) this.#options.onSound(sound);
    this.#listener?.frame(this.#arrivals.next());
    if (this.#call.clock.now() - this.#lastArrivalMs > silenceLimitMs)
      void this.#call.end('callee', 'media_failed');
  }
}
