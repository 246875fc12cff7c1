/**
 * The scripted agent: a conversation without a model and without a key, honest about what it is. It asks for
 * the fields of the result one by one, reads back what it noted, thanks and says goodbye. All decisions are in
 * `dialogue.ts`; here is what they do on the leg.
 */
import type { Clock } from '../../platform/clock.ts';
import type { Heard, Leg, SpeechMedia, Spoken } from '../../carriers/carrier.ts';
import type { Agent, Brief, ConversationEnd, TranscriptSink } from '../agent.ts';
import { renderSpoken } from '../instructions.ts';
import {
  begin,
  nextStep,
  patienceMs,
  type Dialogue,
  type DialogueEvent,
  type Script,
  type Step,
} from './dialogue.ts';
import { languages, localeFor, regionOf } from './locales/locale.ts';
import { dayAt } from './understanding/dates.ts';
import { humanise } from './understanding/text.ts';

export interface ScriptedAgentOptions {
  /** Says which day is today, for "next Tuesday". */
  readonly clock: Clock;
}

/** How often a goodbye is said that the callee does not let us finish. */
const maxGoodbyes = 3;
/** A question counts as heard when no more than this share of it was cut off. */
const enoughOfQuestion = 0.6;

export function createScriptedAgent({ clock }: ScriptedAgentOptions): Agent {
  return {
    kind: 'scripted',
    problems(locale) {
      if (localeFor(locale) !== null) return [];
      return [`the scripted agent speaks ${languages.join(', ')}; it does not speak the locale ${locale}`];
    },
    async converse(brief, leg, transcript, signal) {
      const script = scriptFor(brief, clock);
      if (script === null) return { kind: 'failed', note: 'the scripted agent does not speak this locale' };
      const { media } = leg;
      if (media.kind !== 'speech') return { kind: 'failed', note: 'the leg carries sound, not sentences' };
      return talk({ script, leg: { ...leg, media }, transcript, signal, wrapUpAtMs: brief.wrapUpAtMs });
    },
  };
}

function scriptFor(brief: Brief, clock: Clock): Script | null {
  const locale = localeFor(brief.locale);
  if (locale === null) return null;
  const { properties, required } = brief.resultSchema;
  return {
    locale,
    grammar: locale.grammar,
    today: dayAt(clock.now(), brief.timeZone),
    region: regionOf(brief.locale),
    callerName: withoutFinalStop(brief.callerName),
    title: withoutFinalStop(brief.title),
    machine: brief.machine,
    fields: Object.entries(properties).map(([name, property]) => ({
      name,
      property,
      required: required.includes(name),
      about: renderSpoken(property.description ?? '', brief.variables) || humanise(name),
    })),
  };
}

/** Our sentences end with a full stop of their own. */
function withoutFinalStop(name: string): string {
  return name.trim().replace(/\.+$/, '');
}

interface Talk {
  readonly script: Script;
  readonly leg: Leg<SpeechMedia>;
  readonly transcript: TranscriptSink;
  readonly signal: AbortSignal;
  readonly wrapUpAtMs: number;
}

async function talk(talk: Talk): Promise<ConversationEnd> {
  let dialogue: Dialogue = begin;
  let goodbyes = 0;
  for (;;) {
    const heard = await unlessAborted(talk.signal, listen(talk, dialogue));
    if (heard === null) return { kind: 'failed', note: 'aborted' };
    if (heard.kind === 'left') return leftBy(dialogue);
    const event = eventOf(talk, heard);
    const step = nextStep(talk.script, dialogue, event);
    if (heard.kind === 'utterance') report(talk, heard, step);
    const spoken = await unlessAborted(talk.signal, speak(talk, step));
    if (spoken === null) return { kind: 'failed', note: 'aborted' };
    ({ dialogue } = spoken);
    if (dialogue.end !== null) {
      goodbyes += 1;
      if (!spoken.interrupted || goodbyes >= maxGoodbyes) return dialogue.end;
    }
  }
}

/** A callee who leaves during our goodbye has left; that they opted out, or are a machine, stays true. */
function leftBy({ end }: Dialogue): ConversationEnd {
  return end === null || end.kind === 'finished' ? { kind: 'callee_left' } : end;
}

function listen({ leg, wrapUpAtMs }: Talk, dialogue: Dialogue): Promise<Heard> {
  const patience = patienceMs(dialogue);
  const left = wrapUpAtMs - leg.clock.now();
  return leg.media.hear(left > 0 ? Math.min(patience, left) : patience);
}

function eventOf({ leg, wrapUpAtMs }: Talk, heard: Exclude<Heard, { kind: 'left' }>): DialogueEvent {
  const late = leg.clock.now() >= wrapUpAtMs;
  switch (heard.kind) {
    case 'beep':
      return { kind: 'beep' };
    case 'silence':
      return { kind: 'silence', late };
    case 'utterance':
      return { kind: 'heard', text: heard.text, late };
  }
}

function report({ transcript }: Talk, heard: Extract<Heard, { kind: 'utterance' }>, step: Step): void {
  transcript.turn({
    speaker: step.speaker,
    text: heard.text,
    offsetMs: heard.startedAtMs,
    interrupted: false,
    note: step.note,
  });
}

/** Says what a step says, as one turn, and presses its keys unless it was interrupted. */
async function speak(
  { script, leg, transcript }: Talk,
  { dialogue, say, press }: Step,
): Promise<{ dialogue: Dialogue; interrupted: boolean }> {
  let { disclosed, questionHeard } = dialogue;
  if (say.length > 0) {
    const disclosure = script.locale.texts.disclosure(script.callerName);
    const again = !disclosed && dialogue.end === null && say[0] !== disclosure;
    const text = (again ? [disclosure, ...say] : say).join(' ');
    const spoken = await leg.media.say(text);
    if (spoken.heard !== '') transcript.turn(botTurn(spoken));
    disclosed ||= spoken.heard.startsWith(disclosure);
    questionHeard = text.length - spoken.heard.length <= enoughOfQuestion * (say.at(-1) ?? '').length;
    if (spoken.interrupted) return { dialogue: { ...dialogue, disclosed, questionHeard }, interrupted: true };
  }
  if (press !== null) await leg.media.sendDigits(press);
  return { dialogue: { ...dialogue, disclosed, questionHeard }, interrupted: false };
}

function botTurn({ heard, startedAtMs, interrupted }: Spoken) {
  return { speaker: 'bot', text: heard, offsetMs: startedAtMs, interrupted, note: null } as const;
}

/** The outcome of our side's wait, or null as soon as the signal aborts. */
function unlessAborted<T>(signal: AbortSignal, wait: Promise<T>): Promise<T | null> {
  if (signal.aborted) return Promise.resolve(null);
  return new Promise((resolve, reject) => {
    const abort = () => resolve(null);
    signal.addEventListener('abort', abort, { once: true });
    wait.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
