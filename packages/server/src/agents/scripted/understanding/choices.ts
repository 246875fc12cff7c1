import type { Scalar } from '@trunkcall/contract';
import { fold, humanise, phraseFinder, settle, type Mention, type Repairs } from './text.ts';

/** What ordinals a language has for "the second one". */
export interface OrdinalWords {
  /** Finds "the second one" or "option two": the word is in group `ordinal` or `number`. */
  readonly pattern: RegExp;
  /** Counted from 1; from the end when negative. */
  readonly places: Readonly<Record<string, number>>;
}

/** The options that are offered: `unknown` stands for what nobody said, so nobody can choose it. */
export function optionsOf(members: readonly Scalar[]): Scalar[] {
  return members.filter((member) => member !== 'unknown');
}

/**
 * The enum member that the folded text names: by its words, by inflected forms of them, or by its place among
 * the options. Null when there is none or more than one.
 */
export function chooseOption(
  text: string,
  members: readonly Scalar[],
  ordinals: OrdinalWords,
  repairs: Repairs,
): Scalar | null {
  const options = optionsOf(members);
  const spoken = options.map((member) => [fold(humanise(String(member))), member] as const);
  const literal = settle(text, phraseFinder(spoken)(text), repairs);
  if (literal !== null) return literal;
  const inflected = settle(text, longestOnly(spoken.flatMap((each) => findInflected(text, each))), repairs);
  return inflected ?? byPlace(text, options, ordinals);
}

/** Places where all words of the option stand in order, in any form. */
function findInflected(text: string, [option, member]: readonly [string, Scalar]): Mention<Scalar>[] {
  const words = [...text.matchAll(/\S+/g)];
  const wanted = option.split(' ');
  return words.flatMap((first, index) => {
    const last = words[index + wanted.length - 1];
    const fits = wanted.every((word, offset) => sameWord(word, words[index + offset]?.[0] ?? ''));
    if (!fits || last === undefined) return [];
    return [{ value: member, start: first.index, end: last.index + last[0].length }];
  });
}

/** Forms of one word: `cancel` and `cancelled`, `rojo` and `rojas`. */
function sameWord(a: string, b: string): boolean {
  if (a === b) return true;
  const shorter = Math.min(a.length, b.length);
  let common = 0;
  while (common < shorter && a[common] === b[common]) common += 1;
  return common >= 3 && common >= shorter - 1 && Math.max(a.length, b.length) - common <= 4 && shorter >= 4;
}

/** Drops mentions inside of longer ones: `satisfied` in `very satisfied`. */
function longestOnly(mentions: readonly Mention<Scalar>[]): Mention<Scalar>[] {
  return mentions
    .filter((mention) => !mentions.some((other) => isInside(mention, other)))
    .sort((a, b) => a.start - b.start);
}

function isInside(a: Mention<Scalar>, b: Mention<Scalar>): boolean {
  return b.start <= a.start && a.end <= b.end && b.end - b.start > a.end - a.start;
}

function byPlace(text: string, options: readonly Scalar[], ordinals: OrdinalWords): Scalar | null {
  const groups = ordinals.pattern.exec(text)?.groups;
  const word = groups?.['ordinal'] ?? groups?.['number'];
  if (word === undefined) return null;
  const place = Object.hasOwn(ordinals.places, word) ? ordinals.places[word] : Number(word);
  if (place === undefined || Number.isNaN(place)) return null;
  return options.at(place > 0 ? place - 1 : place) ?? null;
}
