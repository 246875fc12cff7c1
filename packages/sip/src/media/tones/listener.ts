/** Listens to a stream of 20 ms frames for the tones that its owner asked for; costs nothing while asked for none. */

import type { Codec } from '../../sdp/negotiate.ts';
import { decodeG711, FRAME_SAMPLES } from '../g711.ts';
import type { KeyPress } from '../telephone-events.ts';
import { type Beep, BeepDetector } from './beep.ts';
import { energyOf, isAudible } from './goertzel.ts';
import { KeyToneDetector } from './key-tones.ts';
import { InformationToneDetector, ProgressDetector, type ProgressTone } from './progress.ts';

/**
 * `keys`: in-band key presses. `progress`: ringback, busy, SIT. `information`: SIT alone, told as progress. `beep`: an
 * answering machine's beep.
 */
export type ToneKind = 'keys' | 'progress' | 'information' | 'beep';

export type ToneEvent =
  | ({ readonly kind: 'key' } & KeyPress)
  | { readonly kind: 'progress'; readonly tone: ProgressTone }
  | ({ readonly kind: 'beep' } & Beep);

export class ToneListener {
  readonly #samples = new Int16Array(FRAME_SAMPLES);
  #keys: KeyToneDetector | undefined;
  #progress: ProgressDetector | undefined;
  #information: InformationToneDetector | undefined;
  #beep: BeepDetector | undefined;
  /** May be the beginning of SIT. */
  #doubtful: Beep | undefined;
  /** The last tone of SIT is no beep either. */
  #ending = false;

  /** Listens for these kinds from now on; a detector that stays keeps what it heard. */
  listen(kinds: readonly ToneKind[]): void {
    this.#keys = kinds.includes('keys') ? (this.#keys ?? new KeyToneDetector()) : undefined;
    this.#progress = kinds.includes('progress') ? (this.#progress ?? new ProgressDetector()) : undefined;
    this.#information = kinds.includes('information')
      ? (this.#information ?? new InformationToneDetector())
      : undefined;
    this.#beep = kinds.includes('beep') ? (this.#beep ?? new BeepDetector()) : undefined;
  }

  hear(codec: Codec, frame: Uint8Array): ToneEvent[] {
    if (!this.#listening) return [];
    const samples = decodeG711(codec, frame, this.#samples);
    const total = energyOf(samples);
    const energy = isAudible(total, samples.length) ? total : undefined;
    const press = this.#keys?.next(samples, energy);
    const information = this.#information?.next(samples, energy) === true;
    const tone = this.#progress?.next(samples, energy) ?? (information ? 'special_information' : undefined);
    const beep = this.#sifted(this.#beep?.next(samples, energy), information);
    return [
      ...(press === undefined ? [] : [{ kind: 'key' as const, ...press }]),
      ...(tone === undefined ? [] : [{ kind: 'progress' as const, tone }]),
      ...(beep === undefined ? [] : [{ kind: 'beep' as const, ...beep }]),
    ];
  }

  get #listening(): boolean {
    return [this.#keys, this.#progress, this.#information, this.#beep].some((each) => each !== undefined);
  }

  /** The beep, unless it is a tone of SIT: the first ones wait until it is plain that the next does not follow. */
  #sifted(beep: Beep | undefined, information: boolean): Beep | undefined {
    if (this.#information === undefined) return beep;
    if (information) {
      this.#doubtful = undefined;
      this.#ending = true;
      return undefined;
    }
    if (beep !== undefined && this.#ending) {
      this.#ending = false;
      return undefined;
    }
    const found = beep ?? this.#doubtful;
    this.#doubtful = this.#information.begun ? found : undefined;
    return this.#information.begun ? undefined : found;
  }
}
