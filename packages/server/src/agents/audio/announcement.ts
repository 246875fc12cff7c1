/** What is played to whoever answers a test call: a few sentences, or tones where nothing can speak. */
import { encodeG711 } from '@trunkcall/sip';
import type { AudioMedia, Leg, SpeechMedia } from '../../carriers/carrier.ts';
import { lineRate } from './resampler.ts';
import type { Pcm, Synthesizer } from './synthesizer.ts';

const sentences =
  'This is an automated test call from Trunkcall. If you can hear this, the trunk works. Goodbye.';

/** Three rising tones, four times, as they are hard to take for speech or for a fault. */
const tones = { hertz: [440, 554, 659], toneMs: 350, pauseMs: 650, times: 4 } as const;
const amplitude = 6_000;

/** How long a greeting is waited for, milliseconds. */
const greetingMs = 2_000;
const maxTries = 3;

/**
 * Says the announcement, for at most `limitMs`. Ends with whether all that there is time for was played; not, when the
 * callee left before. Never rejects.
 */
export async function announce(
  leg: Leg,
  synthesizer: Synthesizer | null,
  limitMs: number,
): Promise<'played' | 'cut_short'> {
  if (leg.media.kind === 'speech') {
    return Promise.race([sayPatiently(leg.media), leg.clock.sleep(limitMs).then(() => 'cut_short' as const)]);
  }
  const spoken = await synthesizer?.speak(sentences, 'en-US');
  const sound = spoken?.kind === 'speech' ? spoken.pcm : tonePattern();
  return play(leg.media, sound.subarray(0, (limitMs * lineRate) / 1_000));
}

/** Lets whoever answers say who it is, and begins anew a few times when it speaks again. */
async function sayPatiently(media: SpeechMedia): Promise<'played' | 'cut_short'> {
  for (let tries = 0; tries < maxTries; tries += 1) {
    const heard = await media.hear(greetingMs);
    if (heard.kind === 'left') return 'cut_short';
    const { interrupted } = await media.say(sentences);
    if (!interrupted) return 'played';
  }
  return 'cut_short';
}

async function play(media: AudioMedia, sound: Pcm): Promise<'played' | 'cut_short'> {
  if (!media.play(encodeG711(media.law === 'mu' ? 'PCMU' : 'PCMA', sound))) return 'cut_short';
  return (await media.mark()) === 'played' ? 'played' : 'cut_short';
}

function tonePattern(): Pcm {
  const { hertz, toneMs, pauseMs, times } = tones;
  const toneLength = (toneMs * lineRate) / 1_000;
  const once = hertz.flatMap((frequency) =>
    Array.from({ length: toneLength }, (_, at) => {
      // Faded in and out, so that it does not click.
      const fade = Math.min(1, at / 80, (toneLength - at) / 80);
      return amplitude * fade * Math.sin((2 * Math.PI * frequency * at) / lineRate);
    }),
  );
  const pause = Array.from({ length: (pauseMs * lineRate) / 1_000 }, () => 0);
  return Int16Array.from(Array.from({ length: times }, () => [...once, ...pause]).flat());
}
