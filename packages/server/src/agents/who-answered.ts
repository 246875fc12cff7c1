/**
 * Who answered our call, from what the line tells: the one place where that is decided, for all agents.
 *
 *   nothing yet ─▶ uncertain ─▶ human
 *        └──────────┴────▶ menu ─▶ human (whom the menu led to), voicemail, announcement
 *                   any ─▶ voicemail, announcement
 *
 * W1  A machine's sounds, and a model that says it is one, count more than words; words count more than silence.
 * W2  Words make a machine only as first words: three utterances at most, and once the callee has heard who is
 *     calling only a menu's, for a person may well speak of voicemail. One sign of a machine leaves it open; a
 *     greeting that asks or offers something is nobody's recording.
 * W3  Whoever has answered a question of ours, or speaks as a person since they heard who is calling, is one; no
 *     sound makes them a machine: a line that is recorded may beep as well.
 */
import type { AnsweredBy, Direction, MachinePolicy, MenuPolicy } from '@trunkcall/contract';
import { voicePartMs } from './audio/ear.ts';
import type { TranscriptSink } from './agent.ts';
import type { Grammar, MachineWords } from './scripted/locales/locale.ts';
import { fold } from './scripted/understanding/text.ts';

export interface Answer {
  /** Who answered the call; null: nothing was heard yet. It stays a menu when that led to a person. */
  readonly by: AnsweredBy | null;
  /** Who is on the line now. */
  readonly now: AnsweredBy | null;
  /** Utterances, since a menu the ones behind it. */
  readonly utterances: number;
  /** They have answered a question of ours. */
  readonly engaged: boolean;
  /** Since they heard who is calling they have spoken, and no machine's words. */
  readonly replied: boolean;
  /** First words that left it open, folded: what follows may tell. */
  readonly open: string;
}

export type Sign =
  | {
      readonly kind: 'words';
      readonly text: string;
      /** How long they took, milliseconds; null when that is not known. */
      readonly lastedMs: number | null;
      /** The callee has heard who is calling. */
      readonly introduced: boolean;
    }
  /** A voice of which the words are not known. */
  | { readonly kind: 'voice'; readonly lastedMs: number; readonly introduced: boolean }
  | { readonly kind: 'silence' }
  /** An answering machine's beep. */
  | { readonly kind: 'beep' }
  /** The network's special information tones. */
  | { readonly kind: 'information_tone' }
  /** What a model makes of it; `human` when it answers what was said. */
  | { readonly kind: 'report'; readonly who: Exclude<AnsweredBy, 'uncertain'> }
  /** A question of ours was answered. */
  | { readonly kind: 'engaged' };

export const unanswered: Answer = {
  by: null,
  now: null,
  utterances: 0,
  engaged: false,
  replied: false,
  open: '',
};

const firstUtterances = 3;
/** A beep that comes behind so many utterances is something else. */
const utterancesBeforeBeep = 8;
/** Nobody who picks up a telephone speaks for so long without a pause, milliseconds. */
const monologueMs = 6_000;
/** So many signs in their first words make a machine. */
const machineSigns = 2;
/** What words count that only recordings say, and what is needed of who says a name, as receptionists do. */
const sureSigns = 3;

/** Who answered, after one more sign. Without a grammar of the language only sounds and the model tell. Pure. */
export function nextAnswer(before: Answer, sign: Sign, grammar: Grammar | null): Answer {
  switch (sign.kind) {
    case 'words':
      return afterWords({ ...before, utterances: before.utterances + 1 }, sign, grammar);
    case 'voice':
      return afterVoice({ ...before, utterances: before.utterances + 1 }, sign);
    case 'silence':
      return before.now === null ? settle(before, 'uncertain') : before;
    case 'beep': {
      const late = before.utterances >= utterancesBeforeBeep;
      return late || isTalkingToUs(before) || before.now === 'announcement'
        ? before
        : settle(before, 'voicemail');
    }
    case 'information_tone':
      return isTalkingToUs(before) ? before : settle(before, 'announcement');
    case 'report':
      if (sign.who !== 'human') return settle(before, sign.who);
      return before.now === 'uncertain' && before.utterances > 0 ? settle(before, 'human') : before;
    case 'engaged':
      return isRecording(before) ? before : { ...settle(before, 'human'), engaged: true };
  }
}

type Words = Extract<Sign, { kind: 'words' }>;

function afterWords(answer: Answer, words: Words, grammar: Grammar | null): Answer {
  if (answer.engaged || isRecording(answer)) return answer;
  const { introduced } = words;
  if (grammar === null)
    return { ...(answer.now === null ? settle(answer, 'uncertain') : answer), replied: introduced };
  const { by, open } = speakerOf(words, answer.open, grammar);
  const machine = by !== 'human' && by !== 'uncertain';
  const replied = machine ? false : answer.replied || (introduced && by === 'human');
  const after = { ...answer, open, replied };
  if (by === 'human' || answer.utterances > firstUtterances) return settle(after, 'human');
  if (by === 'menu' || (machine && !introduced)) return settle(after, by);
  // Who said hello is not doubted for less than a machine's words, and what a menu led to is no menu.
  return answer.now === null || (answer.now === 'menu' && open !== '') ? settle(after, 'uncertain') : after;
}

function afterVoice(answer: Answer, { lastedMs, introduced }: Extract<Sign, { kind: 'voice' }>): Answer {
  if (answer.engaged || isRecording(answer)) return answer;
  if (!introduced && lastedMs >= voicePartMs) return settle(answer, 'voicemail');
  return answer.now === null ? settle(answer, 'uncertain') : answer;
}

function isTalkingToUs({ now, engaged, replied }: Answer): boolean {
  return engaged || (now === 'human' && replied);
}

function isRecording({ now }: Answer): boolean {
  return now === 'voicemail' || now === 'announcement';
}

function settle(answer: Answer, now: AnsweredBy): Answer {
  const led = answer.by === 'menu' && (now === 'human' || now === 'uncertain');
  const by = led ? 'menu' : now;
  return { ...answer, by, now, utterances: now === 'menu' ? 0 : answer.utterances };
}

/** Who speaks, by the words alone, and what of them leaves it open. `earlier`: words that left it open before. */
function speakerOf(
  { text: utterance, lastedMs, introduced }: Words,
  earlier: string,
  grammar: Grammar,
): { by: AnsweredBy; open: string } {
  if (menuOptions(utterance, grammar).length > 0) return { by: 'menu', open: '' };
  const text = fold(utterance);
  const said = introduced ? text : `${earlier} ${text}`.trim();
  const long = !introduced && lastedMs !== null && lastedMs >= monologueMs ? 1 : 0;
  const voicemail = signsIn(said, grammar.voicemail);
  const announcement = signsIn(said, grammar.announcement);
  const signs = long + Math.max(voicemail, announcement);
  const { alive, who, wrongNumber, named } = grammar;
  const lively = /[?¿]/.test(utterance) || [alive, who, wrongNumber].some((pattern) => pattern.test(text));
  if (signs === 0 || (lively && signs < machineSigns)) return { by: 'human', open: '' };
  const open = signs > long ? said : '';
  if (lively || signs < (named.test(said) ? sureSigns : machineSigns)) return { by: 'uncertain', open };
  return { by: voicemail >= announcement ? 'voicemail' : 'announcement', open };
}

function signsIn(text: string, { sure, hints }: MachineWords): number {
  return sure.test(text) ? sureSigns : hints.filter((hint) => hint.test(text)).length;
}

/** What the Goal says to do about machines. */
export interface MachinePolicies {
  /** About one that takes messages. */
  readonly machine: MachinePolicy;
  readonly menu: MenuPolicy;
}

/** What to do with who is on the line. Nothing can be said to an announcement. */
export function treatmentOf(
  who: AnsweredBy,
  { machine, menu }: MachinePolicies,
): 'talk' | 'navigate' | 'leave_message' | 'hang_up' {
  switch (who) {
    case 'human':
    case 'uncertain':
      return 'talk';
    case 'menu':
      return menu;
    case 'voicemail':
      return machine;
    case 'announcement':
      return 'hang_up';
  }
}

/** Tells who answered when that was decided now, or turned out otherwise. */
export function tellAnswer(
  transcript: Pick<TranscriptSink, 'answeredBy'>,
  before: Answer,
  after: Answer,
): void {
  if (after.by !== null && after.by !== before.by) transcript.answeredBy(after.by);
}

/** Leg time at which we speak first when nobody else does, milliseconds: whoever called us waits for our words. */
export const openAtMs: Readonly<Record<Direction, number>> = { outbound: 2_000, inbound: 500 };
/** A slow start must not make us speak over somebody who is speaking already. */
export const listenFirstMs = 300;

/** How long to wait for the first words, milliseconds, at a leg time. */
export function firstWordsMs(direction: Direction, atMs: number): number {
  return Math.max(listenFirstMs, openAtMs[direction] - atMs);
}

/** The key that a menu announces for reaching a person, or else its first one. */
export function keyForPerson(utterance: string, grammar: Grammar): string {
  const options = menuOptions(utterance, grammar);
  return (options.find(({ what }) => grammar.person.test(what)) ?? options[0])?.key ?? '0';
}

function menuOptions(utterance: string, grammar: Grammar): { what: string; key: string }[] {
  return [...utterance.matchAll(grammar.menuOption)].flatMap(({ groups = {} }) => {
    const word = (groups['key'] ?? groups['key2'] ?? '').toLowerCase();
    const key = /^\d$/.test(word) ? word : grammar.keys[word];
    return key === undefined ? [] : [{ what: fold(groups['what'] ?? groups['what2'] ?? ''), key }];
  });
}
