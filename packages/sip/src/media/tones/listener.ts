/** Listens to a stream of 20 ms frames for the tones that its owner asked for; costs nothing while asked for none. */

import type { Codec } from '../../sdp/negotiate.ts';
import { decodeG711, FRAME_SAMPLES } from '../g711.ts';
import type { KeyPress } from '../telephone-events.ts';
import { type Beep, BeepDetector } from './beep.ts';
import { energyOf, isAudible } from './goertzel.ts';
import { KeyToneDetector } from './key-tones.ts';
import { ProgressDetector, type ProgressTone } from './progress.ts';

/** `keys`: in-band key presses. `progress`: ringback, busy, SIT. `beep`: an answering machine's beep. */
export type ToneKind = 'keys' | 'progress' | 'beep';

export type ToneEvent =
  | ({ readonly kind: 'key' } & KeyPress)
  | { readonly kind: 'progress'; readonly tone: ProgressTone }
  | ({ readonly kind: 'beep' } & Beep);

export class ToneListener {
  readonly #samples = new Int16Array(FRAME_SAMPLES);
  #keys: KeyToneDetector | undefined;
  #progress: ProgressDetector | undefined;
  #beep: BeepDetector | undefined;

  /** Listens for these kinds from now on; a detector that stays keeps what it heard. */
  listen(kinds: readonly ToneKind[]): void {
    this.#keys = kinds.includes('keys') ? (this.#keys ?? new KeyToneDetector()) : undefined;
    this.#progress = kinds.includes('progress') ? (this.#progress ?? new ProgressDetector()) : undefined;
    this.#beep = kinds.includes('beep') ? (this.#beep ?? new BeepDetector()) : undefined;
  }

  hear(codec: Codec, frame: Uint8Array): ToneEvent[] {
    if (this.#keys === undefined && this.#progress === undefined && this.#beep === undefined) return [];
    const samples = decodeG711(codec, frame, this.#samples);
    const total = energyOf(samples);
    const energy = isAudible(total, samples.length) ? total : undefined;
    const press = this.#keys?.next(samples, energy);
    const tone = this.#progress?.next(samples, energy);
    const beep = this.#beep?.next(samples, energy);
    return [
      ...(press === undefined ? [] : [{ kind: 'key' as const, ...press }]),
      ...(tone === undefined ? [] : [{ kind: 'progress' as const, tone }]),
      ...(beep === undefined ? [] : [{ kind: 'beep' as const, ...beep }]),
    ];
  }
}
