/** A person at a baresip phone, who hears what the phone records and says recordings. */
import { setTimeout as wait } from 'node:timers/promises';
import { FRAME_MS, FRAME_SAMPLES } from '@trunkcall/sip';
import type { Baresip } from '../../../sip/test/peers/kit/baresip.ts';
import { until } from './until.ts';

/** Of a frame that somebody speaks in, root mean square. */
const loud = 400;
const pollMs = 40;
const limitMs = 20_000;

export class SipPerson {
  readonly #phone: Baresip;
  /** Frames that were heard so far, all samples of them, and where the loud ones are. */
  #frames = 0;
  #firstLoud: number | null = null;
  #lastLoud: number | null = null;

  constructor(phone: Baresip) {
    this.#phone = phone;
  }

  /** Waits until the phone has answered. */
  async answered(): Promise<void> {
    await until(() => this.#phone.events.some((event) => event.startsWith('CALL_ESTABLISHED')), 'a call');
  }

  /** Says something, and ends when it was said. */
  async say(speech: Int16Array): Promise<void> {
    await this.#phone.say(speech);
    const begun = this.#frames;
    await this.#listen(() => this.#frames - begun >= speech.length / FRAME_SAMPLES);
    this.#firstLoud = this.#lastLoud = null;
  }

  /** Lets the other side speak for so long, counted from its first sound. */
  async hear(ms: number): Promise<void> {
    await this.#listen(() => this.#firstLoud !== null && this.#frames - this.#firstLoud >= ms / FRAME_MS);
  }

  /** Lets the other side speak and finish: until it was heard, and then quiet for so long. */
  async hearOut(quietMs = 900): Promise<void> {
    await this.#listen(() => this.#lastLoud !== null && this.#frames - this.#lastLoud >= quietMs / FRAME_MS);
  }

  async #listen(isEnough: () => boolean): Promise<void> {
    const end = performance.now() + limitMs;
    while (!isEnough()) {
      if (performance.now() > end) throw new Error('what the person waits for was not heard on the phone');
      await wait(pollMs);
      // Nothing is written down before the first sound.
      const fresh = await this.#phone.heard(this.#frames * FRAME_SAMPLES).catch(() => new Int16Array());
      for (let at = 0; at + FRAME_SAMPLES <= fresh.length; at += FRAME_SAMPLES) {
        if (isLoud(fresh.subarray(at, at + FRAME_SAMPLES))) {
          this.#firstLoud ??= this.#frames;
          this.#lastLoud = this.#frames;
        }
        this.#frames += 1;
      }
    }
  }
}

function isLoud(frame: Int16Array): boolean {
  return frame.reduce((sum, sample) => sum + sample * sample, 0) > loud * loud * FRAME_SAMPLES;
}
