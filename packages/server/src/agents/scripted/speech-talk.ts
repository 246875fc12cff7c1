/** The scripted dialogue on a leg that carries sentences. All decisions are in `dialogue.ts`. */
import type { Heard, Leg, SpeechMedia, Spoken } from '../../carriers/carrier.ts';
import type { TranscriptSink, Turn } from '../agent.ts';
import { tellAnswer } from '../who-answered.ts';
import {
  begin,
  nextStep,
  patienceMs,
  type Dialogue,
  type DialogueEvent,
  type Script,
  type Step,
} from './dialogue.ts';
import { keysTurn } from '../marks.ts';
import type { Proceeded, Talk } from './talk.ts';

export interface SpeechTalk {
  readonly script: Script;
  readonly leg: Leg<SpeechMedia>;
  readonly transcript: TranscriptSink;
  /** Leg time at which to wrap up, milliseconds. */
  readonly wrapUpAtMs: number;
}

type Present = Exclude<Heard, { kind: 'left' }>;

/** A question counts as heard when no more than this share of it was cut off. */
const enoughOfQuestion = 0.6;

export function speechTalk(talk: SpeechTalk): Talk<Dialogue, Present> {
  return {
    begin,
    async listen(dialogue) {
      const heard = await listen(talk, dialogue);
      return heard.kind === 'left' ? null : heard;
    },
    proceed(dialogue, heard) {
      const step = nextStep(talk.script, dialogue, eventOf(talk, heard));
      tellAnswer(talk.transcript, dialogue.answer, step.dialogue.answer);
      if (heard.kind === 'utterance') report(talk, heard, step);
      return speak(talk, step);
    },
  };
}

function listen({ script, leg, wrapUpAtMs }: SpeechTalk, dialogue: Dialogue): Promise<Heard> {
  const now = leg.clock.now();
  const patience = patienceMs(script, dialogue, now);
  const left = wrapUpAtMs - now;
  return leg.media.hear(left > 0 ? Math.min(patience, left) : patience);
}

function eventOf({ leg, wrapUpAtMs }: SpeechTalk, heard: Present): DialogueEvent {
  const late = leg.clock.now() >= wrapUpAtMs;
  switch (heard.kind) {
    case 'beep':
    case 'information_tone':
      return { kind: heard.kind };
    case 'silence':
      return { kind: 'silence', late };
    case 'utterance':
      return { kind: 'heard', text: heard.text, lastedMs: heard.endedAtMs - heard.startedAtMs, late };
  }
}

function report({ transcript }: SpeechTalk, heard: Extract<Heard, { kind: 'utterance' }>, step: Step): void {
  transcript.turn({
    speaker: step.speaker,
    text: heard.text,
    offsetMs: heard.startedAtMs,
    interrupted: false,
    notes: step.note === null ? [] : [step.note],
    latency: null,
  });
}

/** Says what a step says, as one turn, and presses its keys unless it was interrupted. */
async function speak(
  { script, leg, transcript }: SpeechTalk,
  { dialogue, say, press }: Step,
): Promise<Proceeded<Dialogue>> {
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
  if (press !== null) {
    await leg.media.sendDigits(press);
    transcript.turn(keysTurn(press, leg.clock.now()));
  }
  return { dialogue: { ...dialogue, disclosed, questionHeard }, interrupted: false };
}

/** What we said, as far as it was heard. */
export function botTurn({ heard, startedAtMs, interrupted }: Spoken): Turn {
  return { speaker: 'bot', text: heard, offsetMs: startedAtMs, interrupted, notes: [], latency: null };
}
