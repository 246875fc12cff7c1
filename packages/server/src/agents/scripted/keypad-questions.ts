/**
 * How the fields of a result are asked of somebody who answers with keys, and what the keys say.
 *
 * | field | asked as | keys |
 * |---|---|---|
 * | boolean, or an enum of at most eight members | choice | one of 1–8; an enum of such numbers: the number itself |
 * | number, integer, or an enum of more numbers | number | digits, `*` for the decimal point, `#` at the end |
 * | a date | date | two digits each for month and day |
 * | other text, or an enum of more members | not at all | |
 *
 * 9 is kept for the opt-out, 0 for "I do not know" where a question may be left out.
 */
import type { Scalar } from '@trunkcall/contract';
import { spokenValue, type Script, type SpokenField } from './dialogue.ts';
import { optionsOf } from './understanding/choices.ts';
import { comingDayOfYear, isoDay } from './understanding/dates.ts';
import { fieldKind, type Understanding } from './understanding/understand.ts';

export type KeyQuestion =
  | { readonly kind: 'choice'; readonly options: readonly Option[]; readonly canSkip: boolean }
  | {
      readonly kind: 'number';
      readonly whole: boolean;
      /** Those that are allowed; null for any. */
      readonly members: readonly Scalar[] | null;
      readonly canSkip: boolean;
    }
  | { readonly kind: 'date'; readonly canSkip: boolean };

interface Option {
  readonly key: string;
  readonly value: Scalar;
  /** The sentence that offers it. */
  readonly offer: string;
}

const maxOptions = 8;
/** More digits do not survive a double. */
const maxDigits = 15;

/** Null when the field can not be asked for by keys. */
export function keyQuestion(script: Script, field: SpokenField): KeyQuestion | null {
  const { property, required } = field;
  const canSkip = !required || (property.enum?.includes('unknown') ?? false);
  switch (fieldKind(field, script.grammar)) {
    case 'yes_no':
      return { kind: 'choice', options: offer(script, field, [true, false]), canSkip };
    case 'choice': {
      const members = optionsOf(property.enum ?? []);
      if (members.length <= maxOptions) {
        return { kind: 'choice', options: offer(script, field, members), canSkip };
      }
      if (property.type !== 'number' && property.type !== 'integer') return null;
      return { kind: 'number', whole: members.every(Number.isInteger), members, canSkip };
    }
    case 'number':
      return { kind: 'number', whole: property.type === 'integer', members: null, canSkip };
    case 'date':
      return { kind: 'date', canSkip };
    case 'text':
      return null;
  }
}

/** The question as it is said, instructions for the keys included. */
export function wordsOf(question: KeyQuestion, { about }: SpokenField, { locale }: Script): string {
  const { texts } = locale;
  const { keypad } = texts;
  const asked = texts.ask(about, 'text', []);
  switch (question.kind) {
    case 'choice': {
      const offers = question.options.map(({ offer }) => offer);
      return [asked, ...offers, ...(question.canSkip ? [keypad.skipChoice] : [])].join(' ');
    }
    case 'number': {
      const how = question.whole ? keypad.enterInteger : keypad.enterNumber;
      return [asked, how, ...(question.canSkip ? [keypad.skipEntry] : [])].join(' ');
    }
    case 'date':
      return [asked, keypad.enterDate, ...(question.canSkip ? [keypad.skipEntry] : [])].join(' ');
  }
}

/** How many keys an answer has at most, `#` included. */
export function maxKeysOf(question: KeyQuestion): number {
  return { choice: 1, date: 4, number: maxDigits + 2 }[question.kind];
}

/** What an entry of keys says. */
export function readKeys(question: KeyQuestion, digits: string, script: Script): Understanding {
  const skips = question.canSkip && digits === (question.kind === 'choice' ? '0' : '#');
  if (skips) return { kind: 'no_answer' };
  const value = valueOf(question, digits, script);
  return value === null ? { kind: 'unclear' } : { kind: 'value', value };
}

function valueOf(question: KeyQuestion, digits: string, script: Script): Scalar | null {
  switch (question.kind) {
    case 'choice':
      return question.options.find(({ key }) => key === digits)?.value ?? null;
    case 'number':
      return numberOf(question, digits);
    case 'date':
      return dateOf(digits, script);
  }
}

function numberOf(
  { whole, members }: Extract<KeyQuestion, { kind: 'number' }>,
  digits: string,
): number | null {
  const [, units, fraction = ''] = /^(\d+)(?:\*(\d+))?#?$/.exec(digits) ?? [];
  if (units === undefined || units.length + fraction.length > maxDigits) return null;
  const value = Number(`${units}.${fraction}`);
  if (whole && !Number.isInteger(value)) return null;
  return members === null || members.includes(value) ? value : null;
}

/** The next such day, today included. */
function dateOf(digits: string, { locale, today }: Script): string | null {
  const [, first, second] = /^(\d\d)(\d\d)#?$/.exec(digits) ?? [];
  if (first === undefined || second === undefined) return null;
  const monthFirst = locale.texts.keypad.dateOrder === 'month_day';
  const [month, day] = monthFirst ? [first, second] : [second, first];
  const found = comingDayOfYear(today, Number(month), Number(day));
  return found === null ? null : isoDay(found);
}

function offer(script: Script, field: SpokenField, members: readonly Scalar[]): Option[] {
  const ownKeys = members.every((member) => typeof member === 'number' && /^[1-8]$/.test(String(member)));
  return members.map((value, index) => {
    const key = String(ownKeys ? value : index + 1);
    return { key, value, offer: script.locale.texts.keypad.option(spokenValue(script, field, value), key) };
  });
}
