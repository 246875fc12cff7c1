/**
 * The scripted conversation as a pure state machine: what was heard in, what to say out.
 *
 *   greeting ─▶ asking (field by field) ─▶ confirming ⇄ amending ─▶ over
 *      │  └▶ menu ─▶ greeting                  every phase ────────▶ over (goodbye, opt-out, late, silence)
 *      └▶ recording (machine, waiting for the beep) ─▶ over
 *
 * D1  It ends: questions per field, confirmations, silences, asides and turns as a whole are bounded.
 * D2  What the callee says selects among these transitions and fills values; it is never said back but as a
 *     value that was understood, and it changes nothing else.
 */
import type { Direction, Scalar } from '@trunkcall/contract';
import type { ConversationEnd, Note } from '../agent.ts';
import {
  firstWordsMs,
  keyForPerson,
  nextAnswer,
  treatmentOf,
  unanswered,
  type Answer,
  type MachinePolicies,
  type Sign,
} from '../who-answered.ts';
import type { Locale } from './locales/locale.ts';
import { optionsOf } from './understanding/choices.ts';
import { findCorrection } from './understanding/correction.ts';
import { fold, humanise } from './understanding/text.ts';
import { fieldKind, understand, yesOrNo, type Field, type Listening } from './understanding/understand.ts';

/** What stays the same for one call. */
export interface Script extends Listening, MachinePolicies {
  readonly locale: Locale;
  readonly direction: Direction;
  readonly callerName: string;
  readonly title: string;
  readonly fields: readonly SpokenField[];
}

export interface SpokenField extends Field {
  /** The description as it is said, variables filled in. */
  readonly about: string;
}

type Phase = 'greeting' | 'menu' | 'recording' | 'asking' | 'confirming' | 'amending' | 'over';

export interface Dialogue {
  readonly phase: Phase;
  /** Index of the field that is being asked. */
  readonly field: number;
  /** How often it was asked. */
  readonly asked: number;
  readonly answers: ReadonlyMap<string, Scalar>;
  /** Read-backs that were not simply agreed to. */
  readonly disputes: number;
  /** Silences in a row. */
  readonly silences: number;
  readonly asides: number;
  readonly menus: number;
  readonly turns: number;
  /** The callee heard the whole disclosure. */
  readonly disclosed: boolean;
  /** The callee heard enough of our last question to answer it. */
  readonly questionHeard: boolean;
  /** Who answered our call. */
  readonly answer: Answer;
  /** How it ended, once it has. */
  readonly end: ConversationEnd | null;
}

export type DialogueEvent =
  | {
      readonly kind: 'heard';
      readonly text: string;
      /** How long it took, milliseconds. */
      readonly lastedMs: number;
      readonly late: boolean;
    }
  | { readonly kind: 'silence'; readonly late: boolean }
  | { readonly kind: 'beep' | 'information_tone' };

export interface Step {
  readonly dialogue: Dialogue;
  readonly say: readonly string[];
  /** Keys to press after that. */
  readonly press: string | null;
  readonly note: Note | null;
  /** Who said what was heard. */
  readonly speaker: 'user' | 'unknown';
}

const maxAsked = 3;
const maxDisputes = 3;
const maxSilences = 2;
const maxAsides = 6;
const maxMenus = 3;

export const begin: Dialogue = {
  phase: 'greeting',
  field: 0,
  asked: 0,
  answers: new Map(),
  disputes: 0,
  silences: 0,
  asides: 0,
  menus: 0,
  turns: 0,
  disclosed: false,
  questionHeard: true,
  answer: unanswered,
  end: null,
};

/** How long to listen for an answer at a leg time, milliseconds; the first words decide who answered. */
export function patienceMs(
  { direction }: Pick<Script, 'direction'>,
  { phase }: Dialogue,
  atMs: number,
): number {
  return phase === 'greeting' ? firstWordsMs(direction, atMs) : patience[phase];
}

const patience: Readonly<Record<Exclude<Phase, 'greeting'>, number>> = {
  menu: 20_000,
  recording: 15_000,
  asking: 7_000,
  confirming: 7_000,
  amending: 7_000,
  over: 2_000,
};

export function nextStep(script: Script, before: Dialogue, event: DialogueEvent): Step {
  const turned = { ...before, turns: before.turns + 1 };
  if (turned.phase === 'over') return afterTheEnd(script, turned, event);
  const dialogue = { ...turned, answer: answerAfter(script, turned, event) };
  switch (event.kind) {
    case 'beep':
    case 'information_tone': {
      const treatment = treatmentNow(script, dialogue);
      return treatment === 'talk' ? keep(dialogue, []) : metMachine(script, dialogue, event.kind === 'beep');
    }
    case 'silence':
      return silent(script, dialogue, event.late);
    case 'heard': {
      const heardStep = heard(script, { ...dialogue, silences: 0 }, event.text);
      const step = heardStep.note?.kind === 'answer' ? engaged(script, heardStep) : heardStep;
      const endless = dialogue.turns > 12 + 4 * script.fields.length;
      return step.dialogue.end === null && (event.late || endless) ? outOfTime(script, step) : step;
    }
  }
}

/** Who answered, after what came; who called us is no machine. */
function answerAfter({ direction, grammar }: Script, dialogue: Dialogue, event: DialogueEvent): Answer {
  if (direction === 'inbound') return dialogue.answer;
  const { answer, disclosed: introduced } = dialogue;
  const { kind } = event;
  const sign: Sign =
    kind === 'heard' ? { kind: 'words', text: event.text, lastedMs: event.lastedMs, introduced } : { kind };
  return nextAnswer(answer, sign, grammar);
}

/** A question of ours was answered: that was a person. */
function engaged({ direction, grammar }: Script, step: Step): Step {
  if (direction === 'inbound') return step;
  const { dialogue } = step;
  const answer = nextAnswer(dialogue.answer, { kind: 'engaged' }, grammar);
  return { ...step, dialogue: { ...dialogue, answer } };
}

function treatmentNow(script: Script, { answer }: Dialogue) {
  return answer.now === null ? 'talk' : treatmentOf(answer.now, script);
}

function silent(script: Script, dialogue: Dialogue, late: boolean): Step {
  const { texts } = script.locale;
  if (dialogue.phase === 'recording') return metMachine(script, dialogue, true);
  if (dialogue.phase === 'menu') return over(dialogue, { kind: 'machine', did: 'hang_up' }, []);
  if (late) return outOfTime(script, keep(dialogue, []));
  if (dialogue.phase === 'greeting') return open(script, dialogue);
  if (dialogue.silences >= maxSilences) {
    return over(dialogue, { kind: 'finished' }, [texts.noneHeard, texts.goodbye]);
  }
  const waiting = { ...dialogue, silences: dialogue.silences + 1 };
  return keep(waiting, [texts.stillThere, lastQuestion(script, dialogue)]);
}

function heard(script: Script, dialogue: Dialogue, utterance: string): Step {
  const { texts } = script.locale;
  const { grammar } = script;
  const text = fold(utterance);
  if (dialogue.phase === 'recording') return { ...keep(dialogue, []), speaker: 'unknown' };
  const treatment = treatmentNow(script, dialogue);
  if (treatment === 'navigate') return navigate(script, dialogue, utterance);
  if (treatment !== 'talk') return { ...metMachine(script, dialogue, false), speaker: 'unknown' };
  if (grammar.optOut.test(text)) {
    return {
      ...over(dialogue, { kind: 'opted_out' }, [texts.optOut, texts.goodbye]),
      note: { kind: 'opted_out' },
    };
  }
  if (dialogue.phase === 'menu' && grammar.wait.test(text)) return keep(dialogue, []);
  if (dialogue.phase === 'greeting' || dialogue.phase === 'menu') return open(script, dialogue);
  if (grammar.wrongNumber.test(text)) return farewell(dialogue, [texts.wrongNumber, texts.goodbye]);
  if (grammar.badMoment.test(text)) return farewell(dialogue, [texts.badMoment, texts.goodbye]);
  if (grammar.farewell.test(text)) return farewell(dialogue, [texts.goodbye]);
  const aside = dialogue.asides < maxAsides ? replyToAside(script, dialogue, text) : null;
  if (aside !== null) return keep({ ...dialogue, asides: dialogue.asides + 1 }, aside);
  if (!dialogue.questionHeard) return keep(dialogue, [lastQuestion(script, dialogue)]);
  if (dialogue.phase === 'asking') return answered(script, dialogue, utterance);
  return checked(script, dialogue, utterance);
}

/** Presses the key that leads to a person. */
function navigate(script: Script, dialogue: Dialogue, utterance: string): Step {
  const gaveUp = dialogue.menus >= maxMenus;
  if (gaveUp) return { ...over(dialogue, { kind: 'machine', did: 'hang_up' }, []), speaker: 'unknown' };
  const inMenu: Dialogue = { ...dialogue, phase: 'menu', menus: dialogue.menus + 1, turns: 0 };
  const press = keyForPerson(utterance, script.locale.grammar);
  return { ...keep(inMenu, []), press, speaker: 'unknown' };
}

function metMachine(script: Script, dialogue: Dialogue, beeped: boolean): Step {
  const { texts } = script.locale;
  if (treatmentNow(script, dialogue) === 'hang_up')
    return over(dialogue, { kind: 'machine', did: 'hang_up' }, []);
  if (!beeped) return keep({ ...dialogue, phase: 'recording' }, []);
  const message = texts.voicemail(texts.disclosure(script.callerName), script.title);
  return over(dialogue, { kind: 'machine', did: 'leave_message' }, [message]);
}

function open(script: Script, dialogue: Dialogue): Step {
  const { texts } = script.locale;
  const opening = [texts.disclosure(script.callerName), texts.about(script.title)];
  return ask(script, { ...dialogue, phase: 'asking', field: 0, asked: 0 }, opening);
}

/** Asks for the present field, or reads back when there is none left. */
function ask(script: Script, dialogue: Dialogue, before: readonly string[]): Step {
  const field = script.fields[dialogue.field];
  if (field === undefined) return readBack(script, dialogue, before);
  return keep({ ...dialogue, phase: 'asking', asked: 1 }, [...before, question(script, field, 'ask')]);
}

function answered(script: Script, dialogue: Dialogue, utterance: string): Step {
  const field = script.fields[dialogue.field];
  if (field === undefined) return readBack(script, dialogue, []);
  const earlier = script.fields.slice(0, dialogue.field).filter(({ name }) => dialogue.answers.has(name));
  const correction = findCorrection([...earlier.slice(-1), field], utterance, script);
  if (correction !== null && correction.field.name !== field.name) {
    const noted = withAnswer(dialogue, correction.field.name, correction.value);
    const again = keep(noted, [question(script, field, 'ask')]);
    return { ...again, note: answerNote(correction.field.name, correction.value, utterance) };
  }
  const understood =
    correction === null
      ? understand(field, utterance, script)
      : ({ kind: 'value', value: correction.value } as const);
  if (understood.kind === 'value') {
    const noted = withAnswer(dialogue, field.name, understood.value);
    const step = ask(script, { ...noted, field: dialogue.field + 1 }, []);
    return { ...step, note: answerNote(field.name, understood.value, utterance) };
  }
  const note: Note = { kind: 'not_understood', field: field.name };
  if (understood.kind === 'unclear' && dialogue.asked < maxAsked) {
    const again = keep({ ...dialogue, asked: dialogue.asked + 1 }, [question(script, field, 'rephrase')]);
    return { ...again, note };
  }
  const unanswered = withoutAnswer(dialogue, field.name);
  return { ...ask(script, { ...unanswered, field: dialogue.field + 1 }, []), note };
}

function readBack(script: Script, dialogue: Dialogue, before: readonly string[]): Step {
  const { texts } = script.locale;
  if (dialogue.answers.size === 0) return farewell(dialogue, [...before, texts.thanks, texts.goodbye]);
  const facts = factsOf(script, dialogue.answers);
  return keep({ ...dialogue, phase: 'confirming' }, [...before, texts.readBack(facts)]);
}

/** What was noted, field by field, as it is read back. */
export function factsOf(script: Script, answers: ReadonlyMap<string, Scalar>): string[] {
  const { texts } = script.locale;
  return script.fields.flatMap((field) => {
    const value = answers.get(field.name);
    return value === undefined
      ? []
      : [texts.fact(humanise(field.name.replaceAll('/', ' ')), spokenValue(script, field, value))];
  });
}

/** A value of a field in words. */
export function spokenValue({ locale, grammar }: Script, field: Field, value: Scalar): string {
  const kind = fieldKind(field, grammar);
  const words = locale.texts.value(value, kind);
  return kind === 'choice' ? humanise(words) : words;
}

/** The callee's word on what was read back, or on what to change. */
function checked(script: Script, dialogue: Dialogue, utterance: string): Step {
  const { texts } = script.locale;
  const { grammar } = script;
  const text = fold(utterance);
  const verdict = yesOrNo(text, grammar);
  if (dialogue.phase === 'confirming' && verdict === true && !grammar.but.test(text)) {
    return farewell(dialogue, [texts.thanks, texts.goodbye]);
  }
  const disputed = { ...dialogue, disputes: dialogue.disputes + 1 };
  const fields = script.fields.filter(({ name }) => dialogue.answers.has(name));
  const correction = findCorrection(fields, utterance, script, dialogue.answers);
  if (correction !== null) {
    const { name } = correction.field;
    const noted = withAnswer(disputed, name, correction.value);
    const step =
      disputed.disputes >= maxDisputes
        ? farewell(noted, [texts.thanks, texts.goodbye])
        : readBack(script, noted, []);
    return { ...step, note: answerNote(name, correction.value, utterance) };
  }
  if (disputed.disputes >= maxDisputes) return farewell(disputed, [texts.thanks, texts.goodbye]);
  if (dialogue.phase === 'confirming' && verdict !== false) return keep(disputed, [texts.yesOrNo]);
  if (dialogue.phase === 'confirming' && fields.length > 1) {
    return keep({ ...disputed, phase: 'amending' }, [texts.whatToChange]);
  }
  return ask(script, { ...disputed, field: 0 }, []);
}

/** What to say to a question of the callee's, with our own question again; null when there was none. */
function replyToAside(script: Script, dialogue: Dialogue, text: string): string[] | null {
  const { grammar, locale, callerName, title } = script;
  const { texts } = locale;
  const again = lastQuestion(script, dialogue);
  if (grammar.robot.test(text)) return [texts.robot(callerName), again];
  if (grammar.who.test(text)) return [texts.disclosure(callerName), texts.about(title), again];
  if (grammar.about.test(text)) return [texts.about(title), again];
  if (grammar.repeat.test(text)) return [again];
  return grammar.wait.test(text) ? [texts.takeYourTime] : null;
}

function lastQuestion(script: Script, dialogue: Dialogue): string {
  if (dialogue.phase === 'amending') return script.locale.texts.whatToChange;
  if (dialogue.phase === 'confirming') return readBack(script, dialogue, []).say.join(' ');
  const field = script.fields[dialogue.field];
  return field === undefined ? '' : question(script, field, 'ask');
}

function question(script: Script, field: SpokenField, how: 'ask' | 'rephrase'): string {
  const options = optionsOf(field.property.enum ?? []).map((member) => humanise(String(member)));
  return script.locale.texts[how](field.about, fieldKind(field, script.grammar), options);
}

function outOfTime(script: Script, step: Step): Step {
  const { texts } = script.locale;
  const { dialogue, note } = step;
  const opening = dialogue.disclosed ? [] : [texts.disclosure(script.callerName)];
  return { ...farewell(dialogue, [...opening, texts.outOfTime, texts.goodbye]), note };
}

/** The end is near: all that is still taken in is the wish not to be called. */
function afterTheEnd(script: Script, dialogue: Dialogue, event: DialogueEvent): Step {
  const { texts } = script.locale;
  if (event.kind === 'heard' && script.grammar.optOut.test(fold(event.text))) {
    const step = over(dialogue, { kind: 'opted_out' }, [texts.optOut, texts.goodbye]);
    return { ...step, note: { kind: 'opted_out' } };
  }
  return keep(dialogue, [texts.goodbye]);
}

function farewell(dialogue: Dialogue, say: readonly string[]): Step {
  return over(dialogue, { kind: 'finished' }, say);
}

function over(dialogue: Dialogue, end: ConversationEnd, say: readonly string[]): Step {
  return keep({ ...dialogue, phase: 'over', end }, say);
}

function keep(dialogue: Dialogue, say: readonly string[]): Step {
  return { dialogue, say, press: null, note: null, speaker: 'user' };
}

function withAnswer(dialogue: Dialogue, field: string, value: Scalar): Dialogue {
  return { ...dialogue, answers: new Map(dialogue.answers).set(field, value) };
}

function withoutAnswer(dialogue: Dialogue, field: string): Dialogue {
  return { ...dialogue, answers: new Map([...dialogue.answers].filter(([name]) => name !== field)) };
}

function answerNote(field: string, value: Scalar, quote: string): Note {
  return { kind: 'answer', field, value, quote };
}
