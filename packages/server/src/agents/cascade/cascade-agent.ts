/**
 * The cascade agent: a transcriber, a chat model and a voice in a row, each of which an operator can run on servers
 * of their own.
 *
 *   callee ─▶ transcriber ─▶ words ─▶ chat model ─▶ sentences ─▶ voice ─▶ callee
 *
 * On a leg that carries sentences only the chat model is used.
 */
import type { CascadeAgentSettings } from '@trunkcall/contract';
import type { Media, Leg, AudioMedia, SpeechMedia } from '../../carriers/carrier.ts';
import type { KeyWatch } from '../../platform/key-watch.ts';
import type { Agent, Brief, Turn } from '../agent.ts';
import { languages, localeFor, localeOfCall, type Grammar } from '../scripted/locales/locale.ts';
import { fold } from '../scripted/understanding/text.ts';
import { AudioFloor } from './audio-floor.ts';
import type { ConversationFloor, Utterance } from './floor.ts';
import type { ChatModel, Transcriber, Voice } from './ports.ts';
import { speechFloor } from './speech-floor.ts';
import { holdTalk, Wait } from './talk.ts';
import { TurnLog } from './turn-log.ts';
import { openVoiceDetector } from './voice-detector.ts';

/** A part of the cascade, or why there is none. */
export type Part<Provider> =
  | {
      readonly kind: 'ready';
      readonly provider: Provider;
      /** What is known of its key. */
      readonly key?: KeyWatch;
    }
  | { readonly kind: 'missing'; readonly problem: string };

export interface CascadeAgentOptions {
  readonly chat: Part<ChatModel>;
  readonly transcriber: Part<Transcriber>;
  readonly voice: Part<Voice>;
}

export function createCascadeAgent(parts: CascadeAgentOptions): Agent {
  const needed = (media: Media['kind']) =>
    media === 'speech' ? [parts.chat] : [parts.chat, parts.transcriber, parts.voice];

  /** What no later moment mends. */
  function lacking(locale: string, media: Media['kind']): string[] {
    const missing = needed(media).flatMap((part) => (part.kind === 'missing' ? [part.problem] : []));
    if (localeFor(locale) !== null) return missing;
    return [
      ...missing,
      `the cascade agent has its first sentence in ${languages.join(', ')}; not for the locale ${locale}`,
    ];
  }

  function problems(locale: string, media: Media['kind']): string[] {
    const rejected = needed(media).flatMap((part) =>
      part.kind === 'ready' ? (part.key?.obstacle() ?? []) : [],
    );
    return [...lacking(locale, media), ...rejected];
  }

  return {
    kind: 'cascade',
    problems,
    async converse(brief, leg, transcript, signal) {
      // A key that was rejected a moment ago may be taken now: whoever is on the line gets the try.
      const [problem] = lacking(brief.locale, leg.media.kind);
      const locale = localeOfCall(brief);
      if (problem !== undefined || locale === null || parts.chat.kind === 'missing') {
        return { kind: 'failed', note: problem ?? 'the cascade agent is not ready' };
      }
      if (signal.aborted) return { kind: 'failed', note: 'aborted' };
      const over = new AbortController();
      const { settings } = brief;
      const own = settings.kind === 'cascade' ? settings : noSettings;
      const floor = await floorOn(parts, leg, brief, own, over.signal);
      const log = new TurnLog(transcript);
      const talk = holdTalk({
        brief,
        script: {
          ...locale,
          direction: brief.direction,
          announcement: brief.announcement,
          callerName: withoutFinalStop(brief.callerName),
          title: withoutFinalStop(brief.title),
          machine: brief.machine,
          menu: brief.menu,
        },
        clock: leg.clock,
        floor,
        model: parts.chat.provider,
        modelName: own.model ?? null,
        filler: own.filler === true ? fillerIn(brief.locale) : null,
        log,
        wait: new Wait(),
        signal: over.signal,
      });
      // At once: whoever stops us does not wait for what we have to tell.
      const tellRest = () => log.close(floor.untold().map((heard) => turnOf(heard, locale.grammar)));
      signal.addEventListener('abort', tellRest, { once: true });
      try {
        return await unlessAborted(signal, talk);
      } finally {
        signal.removeEventListener('abort', tellRest);
        over.abort();
        floor.close();
        log.close([]);
      }
    },
  };
}

/** What the callee said, where nobody answers it any more. A wish not to be called counts all the same. */
function turnOf({ text, startedAtMs }: Utterance, { optOut }: Grammar): Turn {
  const notes = optOut.test(fold(text)) ? [{ kind: 'opted_out' } as const] : [];
  return { speaker: 'user', text, offsetMs: startedAtMs, interrupted: false, notes, latency: null };
}

const noSettings: CascadeAgentSettings = { kind: 'cascade' };

/** What bridges the wait for a late answer. */
function fillerIn(locale: string): string {
  return new Intl.Locale(locale).language === 'es' ? 'Un momento, por favor.' : 'One moment, please.';
}

async function floorOn(
  { transcriber, voice }: CascadeAgentOptions,
  leg: Leg,
  { locale }: Brief,
  settings: CascadeAgentSettings,
  signal: AbortSignal,
): Promise<ConversationFloor> {
  if (carriesSentences(leg)) return speechFloor(leg);
  if (!carriesSound(leg) || transcriber.kind === 'missing' || voice.kind === 'missing') {
    throw new Error('checked before');
  }
  const sound = { locale, law: leg.media.law };
  return new AudioFloor({
    leg,
    language: new Intl.Locale(locale).language,
    detector: await openVoiceDetector(),
    transcription: transcriber.provider.open(sound, settings.transcribe_model ?? null, signal),
    speaker: voice.provider.open(locale, settings.voice ?? null, signal),
  });
}

function carriesSentences(leg: Leg): leg is Leg<SpeechMedia> {
  return leg.media.kind === 'speech';
}

function carriesSound(leg: Leg): leg is Leg<AudioMedia> {
  return leg.media.kind === 'audio';
}

/** Our sentences end with a full stop of their own. */
function withoutFinalStop(name: string): string {
  return name.trim().replace(/\.+$/, '');
}

/** The conversation's end, or `failed` as soon as the signal aborts. */
function unlessAborted<T>(
  signal: AbortSignal,
  talk: Promise<T>,
): Promise<T | { readonly kind: 'failed'; readonly note: string }> {
  return new Promise((resolve, reject) => {
    const abort = () => resolve({ kind: 'failed', note: 'aborted' });
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    talk.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
