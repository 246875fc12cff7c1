/**
 * Tells speech from the noise of a line by loudness alone.
 *
 * Noise goes on and speech has gaps: the quietest of the last two seconds is the noise. A frame is loud when it
 * stands well above that and above the faintest speech. Voice begins when 200 ms of loud frames have come close
 * together, and is over when none came for 700 ms.
 */
import { FRAME_MS } from '@trunkcall/sip';

/** Decibels above the noise. */
const aboveNoiseDb = 9;
/** Speech on a line is hardly fainter than this, decibels of full scale. */
const faintestSpeechDb = -42;
/** So much noise is taken for noise; what is louder is speech without gaps. */
const loudestNoiseDb = -30;
const noiseWindow = 2_000 / FRAME_MS;
const beginsAfter = 200 / FRAME_MS;
/** How long it takes to know that a voice is over, milliseconds. */
export const hangOverMs = 700;
const hangOver = hangOverMs / FRAME_MS;

export class VoiceActivity {
  /** Levels of the last frames, oldest first. */
  readonly #levels: number[] = [];
  /** Loud frames less quiet ones since the first loud one. */
  #loud = 0;
  /** Frames since the first loud one. */
  #length = 0;
  /** Frames since the last loud one. */
  #quiet = 0;
  #speaking = false;

  /** Takes consecutive 20 ms frames. */
  next(samples: Int16Array): 'began' | 'ended' | null {
    const loud = this.#isLoud(level(samples));
    if (loud || this.#length > 0) this.#length += 1;
    this.#quiet = loud ? 0 : this.#quiet + 1;
    return this.#speaking ? this.#whileSpeaking() : this.#whileQuiet(loud);
  }

  /** Whether somebody is speaking: from `began` to `ended`. */
  get speaking(): boolean {
    return this.#speaking;
  }

  /** Whether the last frame stood above the noise. */
  get loud(): boolean {
    return this.#length > 0 && this.#quiet === 0;
  }

  /** From the first to the last loud frame of what is being said, milliseconds; 0 in silence. */
  get lastingMs(): number {
    return Math.max(0, this.#length - this.#quiet) * FRAME_MS;
  }

  /** Forgets what was just heard: it was no voice. What is known of the noise stays. */
  reset(): void {
    this.#speaking = false;
    this.#loud = this.#length = this.#quiet = 0;
  }

  #whileSpeaking(): 'ended' | null {
    if (this.#quiet < hangOver) return null;
    this.reset();
    return 'ended';
  }

  #whileQuiet(loud: boolean): 'began' | null {
    this.#loud = Math.max(0, this.#loud + (loud ? 1 : -1));
    if (this.#loud === 0) this.#length = 0;
    this.#speaking = this.#loud >= beginsAfter;
    return this.#speaking ? 'began' : null;
  }

  #isLoud(levelDb: number): boolean {
    this.#levels.push(levelDb);
    if (this.#levels.length > noiseWindow) this.#levels.shift();
    const noise = Math.min(loudestNoiseDb, ...this.#levels);
    return levelDb >= Math.max(noise + aboveNoiseDb, faintestSpeechDb);
  }
}

/** Decibels of full scale; minus infinity for digital silence. */
function level(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return 10 * Math.log10(sum / (samples.length * 32_768 ** 2));
}
