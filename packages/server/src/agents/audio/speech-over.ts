/**
 * Speech over a leg that carries sound: our sentences are synthesized and played; of the callee come keys, a
 * voice (that it speaks, not what), and an answering machine's beep.
 *
 * - `say` resolves when the text was really played, or when it was cut short; `heard` says how much of it the
 *   callee can have heard: whole sentences, and of the one that was cut the words up to there.
 * - While one sentence is playing the next one is ready, so that they follow without a gap.
 * - What came is kept until heard, also past the end of the leg; then the callee has left.
 */
import { encodeG711 } from '@trunkcall/sip';
import type { AudioMedia, Leg, Spoken } from '../../carriers/carrier.ts';
import { Ear, type AudioHeard, type Interrupter, type Interruption } from './ear.ts';
import { heardOf, sentencesOf } from './sentences.ts';
import { lineRate } from './resampler.ts';
import type { Synthesized, Synthesizer } from './synthesizer.ts';

export interface SpeechOver {
  /** Says a text; one at a time. Failed: it could not be synthesized, and no more of it is played. */
  say(text: string, interrupter: Interrupter): Promise<Said>;
  /** See `Ear.hear`. */
  hear(withinMs: number, maxKeys: number): Promise<AudioHeard>;
}

export type Said =
  | {
      readonly kind: 'said';
      readonly spoken: Spoken;
      /** When its first sound was made, and when that was on the line; null when nothing was heard. */
      readonly sound: { readonly madeAtMs: number; readonly playedAtMs: number } | null;
    }
  | { readonly kind: 'failed'; readonly note: string };

interface Played {
  readonly sentence: string;
  /** Samples. */
  readonly length: number;
  readonly over: Promise<'played' | 'cleared'>;
}

/** The first sound of what is being said. */
interface FirstSound {
  /** What was played of the leg before it. */
  readonly fromMs: number;
  readonly madeAtMs: number;
  playedAtMs: number | null;
}

const cutShort = Symbol('cut short');

/** `locale` is BCP 47. */
export function speechOver(leg: Leg<AudioMedia>, synthesizer: Synthesizer, locale: string): SpeechOver {
  const { media, clock } = leg;
  let first: FirstSound | null = null;
  const ear = new Ear(leg, () => {
    if (first?.playedAtMs === null && media.playedMs() > first.fromMs) first.playedAtMs = clock.now();
  });

  /** Plays the sentences one after the other until all are queued or we are cut short; tells why it could not. */
  async function playAll(
    sentences: readonly string[],
    interruption: Interruption,
    played: Played[],
  ): Promise<string | null> {
    const cut = interruption.promise.then((): typeof cutShort => cutShort);
    let next: Promise<Synthesized> | null = null;
    for (const [index, sentence] of sentences.entries()) {
      const made = await Promise.race([next ?? synthesizer.speak(sentence, locale), cut]);
      if (made === cutShort) return null;
      if (made.kind === 'failed') return made.note;
      const following = sentences[index + 1];
      next = following === undefined ? null : synthesizer.speak(following, locale);
      first ??= { fromMs: media.playedMs(), madeAtMs: clock.now(), playedAtMs: null };
      if (!media.play(encodeG711(media.law === 'mu' ? 'PCMU' : 'PCMA', made.pcm))) return null;
      played.push({ sentence, length: made.pcm.length, over: media.mark() });
      // No more than two sentences wait in the line.
      await Promise.race([played.at(-2)?.over, cut]);
    }
    await Promise.race([played.at(-1)?.over, cut]);
    return null;
  }

  async function say(text: string, interrupter: Interrupter): Promise<Said> {
    const startedAtMs = clock.now();
    const playedBeforeMs = media.playedMs();
    const sentences = sentencesOf(text);
    const interruption = ear.beginSpeech(interrupter);
    const played: Played[] = [];
    first = null;
    const problem = await playAll(sentences, interruption, played);
    ear.endSpeech(interruption);
    // What is left of it when nobody cut us short: nothing, or the leg has ended.
    const { playedMs } = await media.clear();
    const heard = heardWords(played, Math.round(((playedMs - playedBeforeMs) * lineRate) / 1_000));
    const whole = sentences.join(' ');
    const spoken = { heard, startedAtMs, endedAtMs: clock.now(), interrupted: heard !== whole };
    const sound = soundOf(first);
    return problem === null ? { kind: 'said', spoken, sound } : { kind: 'failed', note: problem };
  }

  return { say, hear: (withinMs, maxKeys) => ear.hear(withinMs, maxKeys) };
}

function soundOf(first: FirstSound | null): Extract<Said, { kind: 'said' }>['sound'] {
  if (first === null || first.playedAtMs === null) return null;
  return { madeAtMs: first.madeAtMs, playedAtMs: first.playedAtMs };
}

/** The words of the first so many samples. */
function heardWords(played: readonly Played[], samples: number): string {
  const words: string[] = [];
  let left = samples;
  for (const { sentence, length } of played) {
    words.push(heardOf(sentence, left / length));
    left -= length;
    if (left <= 0) break;
  }
  return words.join(' ').trim();
}
