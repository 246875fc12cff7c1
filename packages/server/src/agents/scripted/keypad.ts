/**
 * The scripted conversation with somebody who answers with the keys of a telephone, as a pure state machine: what
 * came from the line in, what to say out. Words can not be understood on such a line.
 *
 *   greeting ─▶ asking (field by field) ⇄ confirming ─▶ over
 *      └▶ recording (machine, waiting for the beep) ─▶ over
 *
 * K1  It ends: tries per question, silences, disputes and turns as a whole are bounded.
 * K2  A key counts only when the callee can have heard what it stands for: the offer of its option, the question of
 *     an entry, and for 9 that it ends our calls. What was pressed before that is asked again.
 * K3  What has no answer by keys (free text, long lists) is passed over; nothing is invented for it.
 */
import type { Scalar } from '@trunkcall/contract';
import type { ConversationEnd, Note } from '../agent.ts';
import {
  firstWordsMs,
  nextAnswer,
  treatmentOf,
  unanswered,
  type Answer,
  type Sign,
} from '../who-answered.ts';
import { factsOf, spokenValue, type Script, type SpokenField } from './dialogue.ts';
import { keyQuestion, maxKeysOf, readKeys, wordsOf, type KeyQuestion } from './keypad-questions.ts';

type Phase = 'greeting' | 'recording' | 'asking' | 'confirming' | 'over';

export interface KeypadDialogue {
  readonly phase: Phase;
  /** Index of the field that is being asked. */
  readonly field: number;
  /** Tries at the present question that gave no answer. */
  readonly tries: number;
  readonly answers: ReadonlyMap<string, Scalar>;
  /** Read-backs that were not agreed to. */
  readonly disputes: number;
  /** Silences in a row. */
  readonly silences: number;
  readonly turns: number;
  /** Some key was pressed that means something. */
  readonly answering: boolean;
  /** Who answered our call. */
  readonly answer: Answer;
  /** A 9 alone came where a number was asked for, and it was said what it stands for. */
  readonly nineAlone: boolean;
  /** The callee heard the whole disclosure. */
  readonly disclosed: boolean;
  /** The callee heard that 9 ends our calls, and so all that comes before it. */
  readonly told: boolean;
  /** What the callee heard of us since the present question was put for the first time. */
  readonly heard: string;
  /** How it ended, once it has. */
  readonly end: ConversationEnd | null;
}

export type KeypadEvent =
  | { readonly kind: 'keys'; readonly digits: string; readonly late: boolean }
  | { readonly kind: 'voice'; readonly lastedMs: number; readonly late: boolean }
  | { readonly kind: 'silence'; readonly late: boolean }
  | { readonly kind: 'beep' | 'information_tone' };

export interface KeypadStep {
  readonly dialogue: KeypadDialogue;
  readonly say: readonly string[];
  readonly note: Note | null;
  /** What was heard, as the transcript has it: `[1] yes`, `[7]`, `[speech]`. */
  readonly written: string;
  /** Who pressed or spoke. */
  readonly speaker: 'user' | 'unknown';
}

const maxTries = 3;
const maxDisputes = 3;
const maxSilences = 2;
/** How much of an entry's question is enough to answer it. */
const enoughOfQuestion = 0.4;

export const beginKeypad: KeypadDialogue = {
  phase: 'greeting',
  field: 0,
  tries: 0,
  answers: new Map(),
  disputes: 0,
  silences: 0,
  turns: 0,
  answering: false,
  answer: unanswered,
  nineAlone: false,
  disclosed: false,
  told: false,
  heard: '',
  end: null,
};

/** How long to wait for the callee at a leg time, milliseconds. */
export function keypadPatienceMs(
  { direction }: Pick<Script, 'direction'>,
  { phase }: KeypadDialogue,
  atMs: number,
): number {
  if (phase === 'greeting') return firstWordsMs(direction, atMs);
  return { recording: 6_000, asking: 8_000, confirming: 8_000, over: 2_000 }[phase];
}

/** How many keys may belong together now. */
export function maxKeysNow(script: Script, dialogue: KeypadDialogue): number {
  const asked = dialogue.phase === 'asking' ? questionAt(script, dialogue.field) : null;
  return asked === null ? 1 : maxKeysOf(asked.question);
}

/** The dialogue after the callee heard this of what the last step said. */
export function afterHearing(script: Script, dialogue: KeypadDialogue, words: string): KeypadDialogue {
  const { texts } = script.locale;
  const heard = `${dialogue.heard} ${words}`;
  return {
    ...dialogue,
    heard,
    disclosed: dialogue.disclosed || includesWords(words, texts.disclosure(script.callerName)),
    told: dialogue.told || includesWords(words, texts.keypad.optOut),
  };
}

export function nextKeypadStep(script: Script, before: KeypadDialogue, event: KeypadEvent): KeypadStep {
  const answer = before.phase === 'over' ? before.answer : answerAfter(script, before, event);
  const dialogue = { ...before, answer, turns: before.turns + 1 };
  const step = stepAfter(script, dialogue, event);
  const late = 'late' in event && event.late;
  const endless = dialogue.turns > 12 + 4 * script.fields.length;
  return step.dialogue.end === null && (late || endless) ? outOfTime(script, step) : step;
}

/** Who answered, after what came; who called us is no machine. */
function answerAfter({ direction }: Script, dialogue: KeypadDialogue, event: KeypadEvent): Answer {
  const sign = signOf(dialogue, event);
  return direction === 'inbound' || sign === null ? dialogue.answer : nextAnswer(dialogue.answer, sign, null);
}

function signOf({ told: introduced, phase }: KeypadDialogue, event: KeypadEvent): Sign | null {
  switch (event.kind) {
    case 'voice':
      return { kind: 'voice', lastedMs: event.lastedMs, introduced };
    case 'keys':
      return introduced && phase !== 'recording' ? { kind: 'engaged' } : null;
    case 'silence':
    case 'beep':
    case 'information_tone':
      return { kind: event.kind };
  }
}

function treatmentNow(script: Script, { answer }: KeypadDialogue) {
  return answer.now === null ? 'talk' : treatmentOf(answer.now, script);
}

function stepAfter(script: Script, dialogue: KeypadDialogue, event: KeypadEvent): KeypadStep {
  switch (event.kind) {
    case 'silence':
      return silent(script, dialogue);
    case 'beep':
    case 'information_tone':
      return sounded(script, dialogue, event.kind === 'beep');
    case 'voice':
      return spoke(script, { ...dialogue, silences: 0 });
    case 'keys':
      return pressed(script, { ...dialogue, silences: 0 }, event.digits);
  }
}

function sounded(script: Script, dialogue: KeypadDialogue, beeped: boolean): KeypadStep {
  if (dialogue.phase === 'over') return again(script, dialogue);
  // Whoever answers by keys, or called us, is no machine, whatever sounds there.
  return treatmentNow(script, dialogue) === 'talk'
    ? repeat(script, dialogue, [])
    : metMachine(script, dialogue, beeped);
}

function silent(script: Script, dialogue: KeypadDialogue): KeypadStep {
  const { texts } = script.locale;
  if (dialogue.phase === 'over') return again(script, dialogue);
  if (dialogue.phase === 'recording') return metMachine(script, dialogue, true);
  if (dialogue.phase === 'greeting') return open(script, dialogue);
  if (dialogue.silences >= maxSilences) return farewell(dialogue, [texts.noneHeard, texts.goodbye]);
  const waiting = { ...dialogue, silences: dialogue.silences + 1 };
  return repeat(script, waiting, [texts.stillThere]);
}

/** Somebody speaks: whoever does so for long before they know what we want is a recording. */
function spoke(script: Script, dialogue: KeypadDialogue): KeypadStep {
  const { texts } = script.locale;
  const written = '[speech]';
  if (dialogue.phase === 'over') return { ...again(script, dialogue), written };
  if (dialogue.phase === 'recording') return { ...keep(dialogue, []), written, speaker: 'unknown' };
  if (treatmentNow(script, dialogue) !== 'talk')
    return { ...metMachine(script, dialogue, false), written, speaker: 'unknown' };
  if (!dialogue.told) return { ...open(script, dialogue), written };
  return { ...missed(script, dialogue, texts.keypad.onlyKeys), written };
}

function pressed(script: Script, dialogue: KeypadDialogue, digits: string): KeypadStep {
  const written = `[${digits}]`;
  if (dialogue.phase === 'recording') return { ...keep(dialogue, []), written, speaker: 'unknown' };
  if (dialogue.told && digits === '9' && nineEndsCalls(script, dialogue))
    return optOut(script, dialogue, written);
  if (dialogue.phase === 'over') return { ...again(script, dialogue), written };
  if (!dialogue.told) return { ...open(script, dialogue), written };
  const active = { ...dialogue, answering: true };
  if (digits === '*') return { ...repeat(script, active, []), written };
  return dialogue.phase === 'asking' ? answered(script, active, digits) : checked(script, active, digits);
}

/** Where a number is asked for, 9 is a number too; then it is asked which one was meant. */
function nineEndsCalls(script: Script, { phase, field, nineAlone }: KeypadDialogue): boolean {
  const asked = phase === 'asking' ? questionAt(script, field) : null;
  const isAnswer =
    asked?.question.kind === 'number' && readKeys(asked.question, '9', script).kind === 'value';
  return !isAnswer || nineAlone;
}

function optOut(script: Script, dialogue: KeypadDialogue, written: string): KeypadStep {
  const { texts } = script.locale;
  const step = over(dialogue, { kind: 'opted_out' }, [texts.optOut, texts.goodbye]);
  return { ...step, note: { kind: 'opted_out' }, written };
}

function open(script: Script, dialogue: KeypadDialogue): KeypadStep {
  const { texts } = script.locale;
  const opening = [
    texts.disclosure(script.callerName),
    texts.about(script.title),
    texts.keypad.howTo,
    texts.keypad.optOut,
  ];
  return ask(script, { ...dialogue, field: 0 }, opening);
}

/** Asks for the first field from the present one on that has an answer by keys, or reads back. */
function ask(script: Script, dialogue: KeypadDialogue, before: readonly string[]): KeypadStep {
  const { fields } = script;
  const field = fields.findIndex(
    (each, index) => index >= dialogue.field && keyQuestion(script, each) !== null,
  );
  const fresh = { ...dialogue, tries: 0, nineAlone: false, heard: '' };
  if (field === -1) return readBack(script, { ...fresh, field: fields.length }, before);
  const asking: KeypadDialogue = { ...fresh, phase: 'asking', field };
  return keep(asking, [...before, presentQuestion(script, asking)]);
}

function readBack(script: Script, dialogue: KeypadDialogue, before: readonly string[]): KeypadStep {
  const { texts } = script.locale;
  if (dialogue.answers.size === 0) return farewell(dialogue, [...before, texts.thanks, texts.goodbye]);
  const confirming: KeypadDialogue = { ...dialogue, phase: 'confirming' };
  return keep(confirming, [...before, presentQuestion(script, confirming)]);
}

function answered(script: Script, dialogue: KeypadDialogue, digits: string): KeypadStep {
  const asked = questionAt(script, dialogue.field);
  if (asked === null) return readBack(script, dialogue, []);
  const { field, question } = asked;
  const written = `[${digits}]`;
  if (!offered(script, dialogue, asked, digits)) return { ...repeat(script, dialogue, []), written };
  if (digits === '9' && question.kind === 'number') {
    const doubtful = { ...dialogue, nineAlone: true };
    return { ...keep(doubtful, [script.locale.texts.keypad.nineAlone]), written };
  }
  const understood = readKeys(question, digits, script);
  const next = { ...dialogue, field: dialogue.field + 1 };
  switch (understood.kind) {
    case 'value': {
      const { value } = understood;
      const noted = { ...next, answers: new Map(dialogue.answers).set(field.name, value) };
      const quote = `${written} ${spokenValue(script, field, value)}`;
      const note: Note = { kind: 'answer', field: field.name, value, quote };
      return { ...ask(script, noted, []), note, written: quote };
    }
    case 'no_answer':
      return { ...ask(script, withoutAnswer(next, field.name), []), note: notUnderstood(field), written };
    case 'unclear':
      return { ...missed(script, dialogue, script.locale.texts.keypad.wrongKey), written };
  }
}

/** Whether the callee can have heard what the keys stand for, and for keys that stand for nothing, all that do (K2). */
function offered(script: Script, { heard }: KeypadDialogue, asked: Asked, digits: string): boolean {
  const words = wordsOf(asked.question, asked.field, script);
  if (asked.question.kind === 'choice') {
    const option = asked.question.options.find(({ key }) => key === digits);
    // The last word is the key itself: who presses it while it is said has heard it.
    return includesWords(heard, withoutLastWord(option?.offer ?? words));
  }
  return includesWords(heard, words.slice(0, Math.ceil(words.length * enoughOfQuestion)));
}

/** What came answers nothing: says why, and asks again, or goes on after the last try. */
function missed(script: Script, dialogue: KeypadDialogue, why: string): KeypadStep {
  const { texts } = script.locale;
  const field = dialogue.phase === 'asking' ? script.fields[dialogue.field] : undefined;
  const note = field === undefined ? null : notUnderstood(field);
  const tried = { ...dialogue, tries: dialogue.tries + 1 };
  if (tried.tries < maxTries) return { ...repeat(script, tried, [why]), note };
  if (!dialogue.answering) return { ...farewell(tried, [texts.keypad.noKeys, texts.goodbye]), note };
  if (field === undefined) return farewell(tried, [texts.thanks, texts.goodbye]);
  const next = { ...withoutAnswer(dialogue, field.name), field: dialogue.field + 1 };
  return { ...ask(script, next, []), note };
}

/** The callee's word on what was read back. */
function checked(script: Script, dialogue: KeypadDialogue, digits: string): KeypadStep {
  const { texts } = script.locale;
  const [yes, no] = confirmation(script);
  const written = `[${digits}]`;
  if (digits === yes.key && includesWords(dialogue.heard, withoutLastWord(yes.offer))) {
    return { ...farewell(dialogue, [texts.thanks, texts.goodbye]), written: `${written} ${yes.label}` };
  }
  if (digits === no.key && includesWords(dialogue.heard, withoutLastWord(no.offer))) {
    const disputed = { ...dialogue, disputes: dialogue.disputes + 1, field: 0 };
    const settled = disputed.disputes >= maxDisputes;
    const step = settled ? farewell(disputed, [texts.thanks, texts.goodbye]) : ask(script, disputed, []);
    return { ...step, written: `${written} ${no.label}` };
  }
  if (digits === yes.key || digits === no.key) return { ...repeat(script, dialogue, []), written };
  return { ...missed(script, dialogue, texts.keypad.wrongKey), written };
}

/** The two keys that answer a read-back. */
function confirmation({ locale }: Script) {
  const { texts } = locale;
  const option = (value: boolean, key: string) => {
    const label = texts.value(value, 'yes_no');
    return { key, label, offer: texts.keypad.option(label, key) };
  };
  return [option(true, '1'), option(false, '2')] as const;
}

interface Asked {
  readonly field: SpokenField;
  readonly question: KeyQuestion;
}

function questionAt(script: Script, index: number): Asked | null {
  const field = script.fields[index];
  const question = field === undefined ? null : keyQuestion(script, field);
  return field === undefined || question === null ? null : { field, question };
}

/** What is asked now, in words. */
function presentQuestion(script: Script, dialogue: KeypadDialogue): string {
  const asked = dialogue.phase === 'asking' ? questionAt(script, dialogue.field) : null;
  if (asked !== null) return wordsOf(asked.question, asked.field, script);
  const facts = factsOf(script, dialogue.answers);
  return [script.locale.texts.readBack(facts), ...confirmation(script).map(({ offer }) => offer)].join(' ');
}

/** Puts the question once more; who has not heard how to answer hears all of it from the beginning. */
function repeat(script: Script, dialogue: KeypadDialogue, before: readonly string[]): KeypadStep {
  if (!dialogue.told) return open(script, dialogue);
  return keep(dialogue, [...before, presentQuestion(script, dialogue)]);
}

function metMachine(script: Script, dialogue: KeypadDialogue, beeped: boolean): KeypadStep {
  const { texts } = script.locale;
  if (treatmentNow(script, dialogue) === 'hang_up')
    return over(dialogue, { kind: 'machine', did: 'hang_up' }, []);
  if (!beeped) return keep({ ...dialogue, phase: 'recording' }, []);
  const message = texts.voicemail(texts.disclosure(script.callerName), script.title);
  return over(dialogue, { kind: 'machine', did: 'leave_message' }, [message]);
}

function outOfTime(script: Script, step: KeypadStep): KeypadStep {
  const { texts } = script.locale;
  const { dialogue } = step;
  // A machine that goes on and on gets no message.
  if (dialogue.phase === 'recording')
    return { ...step, ...over(dialogue, { kind: 'machine', did: 'hang_up' }, []) };
  const opening = dialogue.disclosed ? [] : [texts.disclosure(script.callerName)];
  const { say, dialogue: ended } = farewell(dialogue, [...opening, texts.outOfTime, texts.goodbye]);
  return { ...step, say, dialogue: ended };
}

/** What is said to somebody who did not let us say goodbye. */
function again(script: Script, dialogue: KeypadDialogue): KeypadStep {
  return keep(dialogue, [script.locale.texts.goodbye]);
}

function farewell(dialogue: KeypadDialogue, say: readonly string[]): KeypadStep {
  return over(dialogue, { kind: 'finished' }, say);
}

function over(dialogue: KeypadDialogue, end: ConversationEnd, say: readonly string[]): KeypadStep {
  return keep({ ...dialogue, phase: 'over', end }, say);
}

function keep(dialogue: KeypadDialogue, say: readonly string[]): KeypadStep {
  return { dialogue, say, note: null, written: '', speaker: 'user' };
}

function withoutAnswer(dialogue: KeypadDialogue, field: string): KeypadDialogue {
  return { ...dialogue, answers: new Map([...dialogue.answers].filter(([name]) => name !== field)) };
}

function notUnderstood({ name }: SpokenField): Note {
  return { kind: 'not_understood', field: name };
}

/** Blanks do not count: speech has none. */
function includesWords(heard: string, words: string): boolean {
  return heard.replace(/\s+/g, '').includes(words.replace(/\s+/g, ''));
}

function withoutLastWord(sentence: string): string {
  return sentence.slice(0, sentence.lastIndexOf(' '));
}
