/** What a language needs so that the scripted agent can speak and understand it. */
import type { Direction, Scalar } from '@trunkcall/contract';
import type { OrdinalWords } from '../understanding/choices.ts';
import type { DatePattern } from '../understanding/dates.ts';
import type { NumberWords } from '../understanding/numbers.ts';
import type { Repairs } from '../understanding/text.ts';
import type { FieldKind } from '../understanding/understand.ts';
import { en } from './en.ts';
import { es } from './es.ts';

export interface Locale {
  readonly texts: Texts;
  /** What we say otherwise to somebody who called us. */
  readonly answering: AnsweringTexts;
  readonly grammar: Grammar;
}

export type AnsweringTexts = Pick<
  Texts,
  'disclosure' | 'recordedDisclosure' | 'robot' | 'about' | 'noneHeard' | 'badMoment' | 'wrongNumber'
> & { readonly keypad: Pick<KeypadTexts, 'noKeys'> };

/** What we say. Each text is whole sentences. */
export interface Texts {
  /** The first sentence: an automated assistant is calling, and for whom. */
  readonly disclosure: (caller: string) => string;
  /** The same of a call that is recorded, in one sentence. */
  readonly recordedDisclosure: (caller: string) => string;
  /** The first sentence of an account that does not say so: only for whom we call. */
  readonly introduction: (caller: string) => string;
  readonly recordedIntroduction: (caller: string) => string;
  /** The question for a field; `options` are those of a choice. */
  readonly ask: (about: string, kind: FieldKind, options: readonly string[]) => string;
  /** The question once more, with what kind of answer would do. */
  readonly rephrase: (about: string, kind: FieldKind, options: readonly string[]) => string;
  readonly readBack: (facts: readonly string[]) => string;
  readonly fact: (field: string, value: string) => string;
  readonly yesOrNo: string;
  readonly whatToChange: string;
  readonly stillThere: string;
  readonly robot: (caller: string) => string;
  readonly about: (title: string) => string;
  readonly takeYourTime: string;
  readonly thanks: string;
  readonly goodbye: string;
  readonly noneHeard: string;
  readonly outOfTime: string;
  readonly badMoment: string;
  readonly wrongNumber: string;
  readonly optOut: string;
  /** A message; `opening` is the first sentence. */
  readonly voicemail: (opening: string, title: string) => string;
  /** Before we call somebody for the callee. */
  readonly connecting: string;
  /** A value as it is read back. */
  readonly value: (value: Scalar, kind: FieldKind) => string;
  readonly keypad: KeypadTexts;
}

/** What we say to somebody who answers with keys. */
export interface KeypadTexts {
  /** How to answer, and to hear a question again. */
  readonly howTo: string;
  /** That 9 ends our calls for ever. */
  readonly optOut: string;
  /** One option of a choice; the key is its last word. */
  readonly option: (label: string, key: string) => string;
  readonly enterInteger: string;
  readonly enterNumber: string;
  readonly enterDate: string;
  /** Which of the two numbers of a date comes first. */
  readonly dateOrder: 'month_day' | 'day_month';
  /** How to leave a question out: of a choice, and of an entry. */
  readonly skipChoice: string;
  readonly skipEntry: string;
  /** The keys are no answer to the question. */
  readonly wrongKey: string;
  /** Somebody spoke instead. */
  readonly onlyKeys: string;
  /** A 9 alone, where a number was asked for: what it stands for. */
  readonly nineAlone: string;
  /** No key was ever pressed. */
  readonly noKeys: string;
}

/** What we understand. Patterns and words see text as `fold` leaves it, unless they say otherwise. */
export interface Grammar {
  readonly yes: readonly string[];
  readonly no: readonly string[];
  readonly softYes: RegExp;
  readonly softNo: RegExp;
  /** "I don't know", "I'd rather not say"; without capturing groups. */
  readonly noIdea: RegExp;
  /** A whole utterance that says that there is nothing to say: "no, that's all". */
  readonly nothing: RegExp;
  readonly repairs: Repairs;
  /** As `repairs.amends`, without the words that are themselves answers. */
  readonly amendsYesNo: RegExp;
  /** Words that are no answer to anything. */
  readonly fillers: ReadonlySet<string>;
  /** What leads up to an answer; on the utterance as it is. */
  readonly leadIn: RegExp;
  readonly nameLeadIn: RegExp;
  readonly asksForName: RegExp;
  readonly asksForDate: RegExp;
  readonly numbers: NumberWords;
  readonly ordinals: OrdinalWords;
  readonly dates: readonly DatePattern[];
  /** Opens a correction of something said before: "no, I meant …". On the utterance as it is. */
  readonly correction: RegExp;
  /** A restriction after a yes: "yes, but …". */
  readonly but: RegExp;
  readonly optOut: RegExp;
  readonly repeat: RegExp;
  readonly robot: RegExp;
  readonly who: RegExp;
  readonly about: RegExp;
  readonly wait: RegExp;
  readonly badMoment: RegExp;
  readonly wrongNumber: RegExp;
  readonly farewell: RegExp;
  readonly voicemail: MachineWords;
  /** A recording that says that the number can not be reached. */
  readonly announcement: MachineWords;
  /** Nobody records this for callers: it asks or offers something, or has them wait. Questions are known by their mark. */
  readonly alive: RegExp;
  /** Says a name, as people do and their recordings. */
  readonly named: RegExp;
  /** One option of a keypad menu, global, on the utterance as it is: `what` and `key`, or `key2` and `what2`. */
  readonly menuOption: RegExp;
  /** Spoken keys to keys. */
  readonly keys: Readonly<Record<string, string>>;
  readonly person: RegExp;
}

/** What recordings say; `who-answered.ts` weighs it. */
export interface MachineWords {
  /** Said by a recording alone. */
  readonly sure: RegExp;
  /** A person may say each of these as well, hardly two of them in one breath. */
  readonly hints: readonly RegExp[];
}

const locales: Readonly<Record<string, Locale>> = { en, es };

/** The languages that the scripted agent speaks. */
export const languages: readonly string[] = Object.keys(locales);

/** The texts for a BCP 47 locale, by its language; null when we do not speak it. */
export function localeFor(locale: string): Locale | null {
  const language = locale.split('-')[0] ?? '';
  return Object.hasOwn(locales, language) ? (locales[language] ?? null) : null;
}

/** The same with the texts that fit the call: whether it is recorded and disclosed, and who called whom. */
export function localeOfCall(call: {
  readonly locale: string;
  readonly recorded: boolean;
  readonly disclosure: boolean;
  readonly direction: Direction;
}): Locale | null {
  const found = localeFor(call.locale);
  if (found === null) return null;
  const { answering } = found;
  const texts: Texts =
    call.direction === 'inbound'
      ? { ...found.texts, ...answering, keypad: { ...found.texts.keypad, ...answering.keypad } }
      : found.texts;
  // Who calls us is always told what answers.
  const isDisclosed = call.disclosure || call.direction === 'inbound';
  const disclosed = call.recorded ? texts.recordedDisclosure : texts.disclosure;
  const introduced = call.recorded ? texts.recordedIntroduction : texts.introduction;
  return { ...found, texts: { ...texts, disclosure: isDisclosed ? disclosed : introduced } };
}

/** The ISO 3166-1 region of a BCP 47 locale; null when it names none. */
export function regionOf(locale: string): string | null {
  return new Intl.Locale(locale).region ?? null;
}
