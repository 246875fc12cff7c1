import type { Leg, SpeechMedia } from '../../carriers/carrier.ts';
import type { ConversationFloor } from './floor.ts';
import { untilAborted } from './pipe.ts';

/** Words in, words out: on a leg of sentences the model's answer is said as one. */
export function speechFloor({ media, clock, ended }: Leg<SpeechMedia>): ConversationFloor {
  const over = new AbortController();
  void ended.then(() => over.abort());
  return {
    hear: (withinMs) => media.hear(withinMs),
    async say(sentences) {
      const all: string[] = [];
      for await (const sentence of untilAborted(sentences, over.signal)) all.push(sentence);
      const now = clock.now();
      const nothing = { heard: '', startedAtMs: now, endedAtMs: now, interrupted: over.signal.aborted };
      const spoken = all.length === 0 ? nothing : await media.say(all.join(' '));
      return { spoken, sound: null, failure: null };
    },
    press: (keys) => media.sendDigits(keys),
    // A leg of sentences knows of a sentence when it is over.
    heardSoFar: () => null,
    untold: () => [],
    close: () => undefined,
  };
}
