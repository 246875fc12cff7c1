/**
 * A telephone line that carries sound between an agent and a person played by a test, in time that runs some times
 * faster than life: providers on real sockets answer meanwhile, and take their time on it.
 */
import { decodeG711, encodeG711, FRAME_SAMPLES } from '@trunkcall/sip';
import type { AudioListener, AudioMedia, Leg, LegEnd } from '../../src/carriers/carrier.ts';
import { VirtualTime } from '../../src/carriers/simulated/virtual-time.ts';
import { systemClock } from '../../src/platform/clock.ts';

const frameMs = 20;
/** Slow enough that a provider's few milliseconds are a usual delay. */
const speed = 10;
const endMs = 300_000;

export type Person = (line: SoundLine) => Promise<void>;

export class SoundLine {
  readonly leg: Leg<AudioMedia>;
  readonly time = new VirtualTime(systemClock, speed);
  readonly pressed: string[] = [];
  /** Most that was ever queued and not played, milliseconds. */
  mostQueuedMs = 0;
  /** Times at which our sound was cut. */
  readonly clearedAtMs: number[] = [];
  readonly #law: 'mu' | 'a';
  readonly #ended = Promise.withResolvers<LegEnd>();
  #listener: AudioListener | null = null;
  #queued = 0;
  #played = 0;
  #marks: { readonly at: number; readonly settle: (how: 'played' | 'cleared') => void }[] = [];
  /** What the person is saying. */
  #saying: { samples: Int16Array; at: number; said: () => void } | null = null;
  #waiting: { readonly ready: () => boolean; readonly settle: (ready: boolean) => void }[] = [];
  #quietSinceMs = 0;
  #over = false;

  constructor(law: 'mu' | 'a') {
    this.#law = law;
    this.leg = {
      providerCallId: null,
      clock: { now: () => this.time.now, sleep: (ms, signal) => this.time.sleep(ms, signal) },
      media: this.#media(),
      ended: this.#ended.promise,
      hangUp: () => this.#end('us'),
    };
    void this.time.whileWaiting(this.leg.ended);
    this.time.schedule(frameMs, (due) => this.#tick(due));
    this.time.schedule(endMs, (due) => due && void this.#end('carrier'));
  }

  get over(): boolean {
    return this.#over;
  }

  /** Whether our side's sound is on the line. */
  get hearsUs(): boolean {
    return this.#queued > 0;
  }

  get playedMs(): number {
    return this.#played / 8;
  }

  /** Says something; resolves when it was said. */
  say(samples: Int16Array): Promise<void> {
    if (this.#over) return Promise.resolve();
    return new Promise((said) => {
      this.#saying = { samples, at: 0, said };
    });
  }

  /** Resolves `true` as soon as it holds after a frame, `false` at the end. */
  until(ready: () => boolean): Promise<boolean> {
    if (this.#over) return Promise.resolve(false);
    return new Promise((settle) => this.#waiting.push({ ready, settle }));
  }

  /** Lets our side speak and finish: until it was heard, and then quiet for 700 ms. */
  async listen(): Promise<boolean> {
    if (!(await this.until(() => this.hearsUs))) return false;
    return this.until(() => !this.hearsUs && this.time.now - this.#quietSinceMs >= 700);
  }

  async press(keys: string): Promise<void> {
    for (const key of keys) {
      this.#listener?.key(key);
      await this.time.sleep(200);
    }
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
        this.#queued += audio.length;
        this.mostQueuedMs = Math.max(this.mostQueuedMs, this.#queued / 8);
        return true;
      },
      clear: async () => {
        const droppedMs = this.#queued / 8;
        if (droppedMs > 0) this.clearedAtMs.push(this.time.now);
        this.#queued = 0;
        for (const { settle } of this.#marks.splice(0)) settle('cleared');
        return { playedMs: this.playedMs, droppedMs };
      },
      playedMs: () => this.playedMs,
      mark: () => {
        if (this.#over) return Promise.resolve('cleared');
        if (this.#queued === 0) return Promise.resolve('played');
        return new Promise((settle) => this.#marks.push({ at: this.#played + this.#queued, settle }));
      },
      sendDigits: async (digits) => {
        this.pressed.push(digits);
      },
    };
  }

  #tick(due: boolean): void {
    if (!due || this.#over) return;
    this.time.schedule(frameMs, (again) => this.#tick(again));
    const step = Math.min(FRAME_SAMPLES, this.#queued);
    this.#queued -= step;
    this.#played += step;
    if (step > 0) this.#quietSinceMs = this.time.now;
    while (this.#marks[0] !== undefined && this.#marks[0].at <= this.#played)
      this.#marks.shift()?.settle('played');
    this.#listener?.frame(this.#frame());
    const ready = this.#waiting.filter((each) => each.ready());
    this.#waiting = this.#waiting.filter((each) => !ready.includes(each));
    for (const { settle } of ready) settle(true);
  }

  /** What the person says, above the faint noise of the line. */
  #frame(): Uint8Array {
    const saying = this.#saying;
    const samples = Int16Array.from({ length: FRAME_SAMPLES }, (_, at) => {
      const noise = ((this.time.now * 7 + at * 13) % 17) - 8;
      return noise + (saying?.samples[saying.at + at] ?? 0);
    });
    if (saying !== null) {
      saying.at += FRAME_SAMPLES;
      if (saying.at >= saying.samples.length) {
        this.#saying = null;
        saying.said();
      }
    }
    const codec = this.#law === 'mu' ? 'PCMU' : 'PCMA';
    return encodeG711(codec, decodeG711(codec, encodeG711(codec, samples)));
  }

  #end(endedBy: 'us' | 'callee' | 'carrier'): Promise<LegEnd> {
    if (!this.#over) {
      this.#over = true;
      this.#ended.resolve({ reason: 'hung_up', endedBy, sipStatus: null, q850: 16 });
      for (const { settle } of this.#marks.splice(0)) settle('cleared');
      for (const { settle } of this.#waiting.splice(0)) settle(false);
      this.#saying?.said();
      this.time.stop();
    }
    return this.#ended.promise;
  }
}
