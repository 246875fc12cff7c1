/**
 * The realtime agent: a model that hears and speaks, behind a server of the OpenAI Realtime protocol. It connects
 * when the leg is answered; sessions that wait cost money.
 */
import type { Clock } from '../../platform/clock.ts';
import type { AudioMedia, Leg, SpeechMedia } from '../../carriers/carrier.ts';
import { createKeyWatch, type KeyWatch } from '../../platform/key-watch.ts';
import type { Agent, Brief, ConversationEnd, TranscriptSink } from '../agent.ts';
import { audioSide } from './audio-side.ts';
import { sessionUpdate, type SessionPlan } from './client-events.ts';
import { Conversation, type ConversationOptions } from './conversation.ts';
import { dialects, missingSettings, targetOf, type RealtimeProvider } from './dialect.ts';
import { promptFor } from '../prompt.ts';
import { localeOfCall } from '../scripted/locales/locale.ts';
import type { Plan } from './session.ts';
import { speechSide } from './speech-side.ts';
import { toolsFor } from '../tools.ts';

export interface RealtimeAgentOptions {
  readonly clock: Clock;
  readonly provider: RealtimeProvider;
  /** Told whether the provider takes the key; one of its own by default. */
  readonly key?: KeyWatch;
}

/** The languages that speech models of this kind are said to speak well, ISO 639. */
const languages = new Set(
  (
    'af ar az be bg bs ca cs cy da de el en es et fa fi fil fr gl he hi hr hu hy id is it ja kk kn ko lt lv mi mk mr ' +
    'ms nb ne nl nn no pl pt ro ru sk sl sr sv sw ta th tl tr uk ur vi zh'
  ).split(' '),
);

export function createRealtimeAgent({
  clock,
  provider,
  key = createKeyWatch(clock, 'TRUNKCALL_REALTIME_API_KEY'),
}: RealtimeAgentOptions): Agent {
  return {
    kind: 'realtime',
    problems(locale) {
      const obstacle = key.obstacle();
      return [
        ...missingSettings(provider),
        ...(languages.has(languageOf(locale))
          ? []
          : [`the realtime agent does not speak the locale ${locale}`]),
        ...(obstacle === null ? [] : [obstacle]),
      ];
    },
    async converse(brief, leg, transcript, signal) {
      if (signal.aborted) return { kind: 'failed', note: 'aborted' };
      const [missing] = missingSettings(provider);
      if (missing !== undefined) return { kind: 'failed', note: missing };
      return converse({
        brief,
        leg,
        transcript,
        signal,
        clock,
        provider,
        onAnswer: (status) => key.saw(status),
      });
    },
  };
}

interface Call {
  readonly brief: Brief;
  readonly leg: Leg;
  readonly transcript: TranscriptSink;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly provider: RealtimeProvider;
  readonly onAnswer: ConversationOptions['onAnswer'];
}

function converse(call: Call): Promise<ConversationEnd> {
  const { brief, leg, transcript, signal, clock, provider, onAnswer } = call;
  const { media } = leg;
  const settings = brief.settings.kind === 'realtime' ? brief.settings : { kind: 'realtime' as const };
  const dialect = dialects[provider.dialect];
  const prompt = promptFor(brief);
  const targets = brief.transfer?.targets ?? [];
  const plan: Plan = {
    direction: brief.direction,
    callerName: brief.callerName.trim(),
    media: media.kind,
    prompt,
    resultSchema: brief.resultSchema,
    targets,
    machine: brief.machine,
    menu: brief.menu,
    grammar: localeOfCall(brief)?.grammar ?? null,
    answersByItself: dialect.answersByItself && media.kind === 'audio',
    namesItems: dialect.namesItems,
  };
  const sessionPlan: SessionPlan = {
    dialect,
    settings,
    instructions: prompt.standing,
    tools: toolsFor(brief),
    language: languageOf(brief.locale),
    law: media.kind === 'audio' ? media.law : null,
  };
  const conversation = new Conversation(
    {
      plan,
      leg,
      clock,
      transcript,
      transfer: brief.transfer,
      wrapUpAtMs: brief.wrapUpAtMs,
      target: targetOf(provider, settings.model ?? null),
      sessionUpdate: sessionUpdate(sessionPlan),
      onAnswer,
    },
    (self) =>
      carriesSound(leg) ? audioSide(leg, dialect.sound, self) : speechSide(leg as Leg<SpeechMedia>, self),
  );
  return conversation.run(signal);
}

const carriesSound = (leg: Leg): leg is Leg<AudioMedia> => leg.media.kind === 'audio';

const languageOf = (locale: string): string => locale.split('-')[0] ?? '';
