/** What an utterance says about a field of the result: pure, and the same for every language. */
import type { Scalar, ScalarProperty } from '@trunkcall/contract';
import type { Grammar } from '../locales/locale.ts';
import { chooseOption } from './choices.ts';
import { findDates, isoDay, type DateContext } from './dates.ts';
import { findNumbers } from './numbers.ts';
import { fold, humanise, phraseFinder, settle } from './text.ts';

export interface Field {
  readonly name: string;
  readonly property: ScalarProperty;
  readonly required: boolean;
}

export type FieldKind = 'choice' | 'yes_no' | 'number' | 'date' | 'text';

export interface Listening extends DateContext {
  readonly grammar: Grammar;
}

export type Understanding =
  | { readonly kind: 'value'; readonly value: Scalar }
  /** The callee does not know, does not want to say, or has nothing to say about it. */
  | { readonly kind: 'no_answer' }
  | { readonly kind: 'unclear' };

const maxTextLength = 1_000;
/** More words than this are a story, in which a "no" means nothing. */
const maxAnswerWords = 15;

export function fieldKind(field: Field, grammar: Grammar): FieldKind {
  const { property } = field;
  if (property.enum !== undefined) return 'choice';
  if (property.type === 'boolean') return 'yes_no';
  if (property.type !== 'string') return 'number';
  return grammar.asksForDate.test(topic(field)) ? 'date' : 'text';
}

/** What is asked for, folded: the description, or the name if there is none. */
function topic({ name, property }: Field): string {
  return fold(property.description ?? humanise(name));
}

/** Understands an answer to the question for `field`. Never throws. */
export function understand(field: Field, utterance: string, listening: Listening): Understanding {
  const { grammar } = listening;
  const value = valueFor(field, utterance, listening);
  if (value !== null) return { kind: 'value', value };
  const text = fold(utterance);
  const declined = grammar.noIdea.test(text) || (!field.required && grammar.nothing.test(text));
  return { kind: declined ? 'no_answer' : 'unclear' };
}

function valueFor(field: Field, utterance: string, listening: Listening): Scalar | null {
  const { grammar } = listening;
  const text = fold(utterance);
  switch (fieldKind(field, grammar)) {
    case 'choice':
      return choice(field.property.enum ?? [], text, grammar);
    case 'yes_no':
      return yesOrNo(text, grammar);
    case 'number': {
      const value = settle(text, findNumbers(text, grammar.numbers), grammar.repairs);
      return field.property.type === 'integer' && !Number.isInteger(value) ? null : value;
    }
    case 'date': {
      const day = settle(text, findDates(text, grammar.dates, listening), grammar.repairs);
      return day === null ? null : isoDay(day);
    }
    case 'text':
      return freeText(field, utterance, text, grammar);
  }
}

function choice(members: readonly Scalar[], text: string, grammar: Grammar): Scalar | null {
  const chosen = chooseOption(text, members, grammar.ordinals, grammar.repairs);
  if (chosen !== null) return chosen;
  const number = settle(text, findNumbers(text, grammar.numbers), grammar.repairs);
  if (number !== null && members.includes(number)) return number;
  const answer = yesOrNo(text, grammar);
  if (answer === null) return null;
  return (
    members.find((member) => member === answer || yesOrNo(fold(String(member)), grammar) === answer) ?? null
  );
}

/**
 * Clear words (yes, no) decide; if there are none, the softer ones do, of which one negation is enough. In a
 * long story only its first words are an answer.
 */
export function yesOrNo(text: string, grammar: Grammar): boolean | null {
  const words = text.split(grammar.noIdea).join(' ').split(' ');
  const story = words.length > maxAnswerWords;
  const said = words.slice(0, story ? 3 : undefined).join(' ');
  const clear = settle(said, clearAnswers(grammar)(said), {
    ...grammar.repairs,
    amends: grammar.amendsYesNo,
  });
  const clearlyContradictory = clear === null && clearAnswers(grammar)(said).length > 0;
  if (clear !== null || clearlyContradictory || story) return clear;
  if (grammar.softNo.test(said)) return false;
  return grammar.softYes.test(said) ? true : null;
}

const finders = new WeakMap<Grammar, ReturnType<typeof phraseFinder<boolean>>>();

function clearAnswers(grammar: Grammar): ReturnType<typeof phraseFinder<boolean>> {
  const known = finders.get(grammar);
  if (known !== undefined) return known;
  const yes = grammar.yes.map((phrase) => [phrase, true] as const);
  const no = grammar.no.map((phrase) => [phrase, false] as const);
  const finder = phraseFinder<boolean>([...yes, ...no]);
  finders.set(grammar, finder);
  return finder;
}

/** The callee's own words without what leads up to them; null when nothing is left, or nothing but filling. */
function freeText(field: Field, utterance: string, text: string, grammar: Grammar): string | null {
  if (grammar.noIdea.test(text) || (!field.required && grammar.nothing.test(text))) return null;
  if (text.split(' ').every((word) => grammar.fillers.has(word))) return null;
  let said = utterance.replace(/\s+/g, ' ').trim().replace(grammar.leadIn, '');
  if (grammar.asksForName.test(topic(field))) said = said.replace(grammar.nameLeadIn, '');
  said = said
    .replace(/[.,;!\s]+$/, '')
    .slice(0, maxTextLength)
    .trim();
  return fold(said) === '' ? null : said;
}
