/**
 * Whether the words of a callee support what a model claims. A model that was talked into something claims what nobody
 * said, and that is refused here whatever it says.
 */
import type { Scalar } from '@trunkcall/contract';
import { languages, localeFor } from '../../agents/scripted/locales/locale.ts';
import { findNumbers } from '../../agents/scripted/understanding/numbers.ts';
import { fold } from '../../agents/scripted/understanding/text.ts';
import type { SpokenTurn } from '../../agents/agent.ts';
import type { FieldEvidence } from '../extractor.ts';
import type { PlacedClaim } from './evidence.ts';

export type Supported =
  | { readonly ok: true; readonly evidence: FieldEvidence }
  | {
      readonly ok: false;
      /** For the model, without anything that was said. */
      readonly problem: string;
      /** What can be used instead: free text that nobody said becomes the callee's words. */
      readonly instead: FieldEvidence | null;
    };

/** A model’s doubt of this much is the same as not knowing. */
const leastConfidence = 0.2;

/**
 * Checks a claim against the conversation. The quote that it ends with is literally the callee's.
 *
 * A number must have been said: by the callee in a cited turn, or by us right before it, for the callee to say yes to.
 * Free text must have a word of what was said there and not be much longer: an extract does not grow.
 */
export function supportOf(
  { claim, node }: Pick<PlacedClaim, 'claim' | 'node'>,
  turns: readonly SpokenTurn[],
): Supported {
  const cited = claim.turns.filter((index) => (turns[index]?.speaker ?? 'bot') !== 'bot');
  if (cited.length === 0) return refused('cites no turn of the callee');
  const quote = cited.flatMap((index) => literalQuote(turns[index]?.text ?? '', claim.quote) ?? [])[0];
  if (quote === undefined) return refused('has a quote that is not literally in the cited turns');
  if (claim.confidence < leastConfidence) return refused('is too unsure: leave it out');
  const { value, confidence } = claim;
  const evidence = { value, turns: cited, quote, confidence };
  const heard = cited.flatMap((index) =>
    [turns[index - 1], turns[index]].flatMap((turn) => turn?.text ?? []),
  );
  const isFreeText = node.type === 'string' && node.enum === undefined;
  const instead = isFreeText ? { ...evidence, value: quote } : null;
  if (!numbersWereSaid(value, heard)) return refused('has a number that was not said there', instead);
  if (isFreeText && !isExtract(String(value), heard.join(' ')))
    return refused('is not in the words of the callee', instead);
  return { ok: true, evidence };
}

function refused(problem: string, instead: FieldEvidence | null = null): Supported {
  return { ok: false, problem, instead };
}

/** What of a claim can be used; null when nothing can. */
export function usable(support: Supported): FieldEvidence | null {
  return support.ok ? support.evidence : support.instead;
}

/** So much longer than what was said may free text be, UTF-16 units. */
const growth = 40;
/** Inflected words begin alike. */
const stemLength = 4;

/** Free text that is made of what was said, as far as that can be told without knowing the language. */
function isExtract(value: string, said: string): boolean {
  if (value.length > said.length + growth) return false;
  const words = stemsOf(value.replace(datesAndTimes, ' '));
  const heard = new Set(stemsOf(said));
  return words.length === 0 || words.some((word) => heard.has(word)) || said.includes(value);
}

/** Numbers are judged by themselves. */
function stemsOf(text: string): string[] {
  const words = fold(text).match(/\p{L}+/gu) ?? [];
  return words.map((word) => word.slice(0, stemLength));
}

const apostrophes = /['’‘`´]/;
const quotationMarks = /["“”„«»]/;
/** Of a script whose words are written apart: there a piece of a word is no quote. */
const letter =
  '[[\\p{L}\\p{N}]--[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}]]';
const beginsAWord = new RegExp(`^${letter}`, 'v');
const endsAWord = new RegExp(`${letter}$`, 'v');

/**
 * The words of `text` that `quote` stands for, as they are there; null when they are not. Models change case, white
 * space, apostrophes and quotation marks, and these do not change who said what.
 */
export function literalQuote(text: string, quote: string): string | null {
  const words = quote.trim();
  if (words === '') return null;
  const pattern = words.replace(/\s+|[^\p{L}\p{N}\s]/gu, markPattern);
  const before = beginsAWord.test(words) ? '(?<![\\p{L}\\p{N}])' : '';
  const behind = endsAWord.test(words) ? '(?![\\p{L}\\p{N}])' : '';
  return new RegExp(before + pattern + behind, 'iu').exec(text)?.[0] ?? null;
}

function markPattern(mark: string): string {
  if (mark.trim() === '') return '\\s+';
  if (apostrophes.test(mark)) return apostrophes.source;
  if (quotationMarks.test(mark)) return quotationMarks.source;
  return `\\u{${mark.codePointAt(0)?.toString(16)}}`;
}

/** Transcribers write larger numbers in digits, whatever the language; smaller ones may be words that we do not know. */
const largestInWords = 12;
/** Days and times of day are written in another way than they are said. */
const datesAndTimes =
  /\b\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?|\b\d{1,2}:\d\d(?::\d\d)?\b|\b(?:19|20)\d\d\b/g;
/** "2k", "1.5 M", "20 %", "3 Mio": the zeros of the value are not said. */
const scaled = /\d\s*(?:%|(?:k|m|t|bn|mi[lo]\p{L}*|mrd|taus\p{L}*|mln|tys)(?!\p{L}))/iu;
const numberWords = languages.flatMap((language) => localeFor(language)?.grammar.numbers ?? []);

/** More groups, or digits, than this are no number that somebody dictates. */
const maxGroups = 12;
const maxDigits = 24;

/** Whether every larger number of a value is among the numbers in some texts, as digits or as words. */
export function numbersWereSaid(value: Scalar, texts: readonly string[]): boolean {
  if (typeof value === 'boolean') return true;
  const numbers = (typeof value === 'number' ? [plainDigits(value)] : numbersIn(value)).filter(
    (digits) => digits.length > 2 || Number(digits) > largestInWords,
  );
  if (numbers.length === 0) return true;
  const said = new Set(texts.flatMap(numbersSaid));
  const scaledDown = new Set(texts.some((text) => scaled.test(text)) ? [...said].map(withoutZeros) : []);
  return numbers.every((digits) => said.has(digits) || scaledDown.has(withoutZeros(digits)));
}

function withoutZeros(digits: string): string {
  return digits.replace(/0+$/, '');
}

/** The digits of a number, without a sign, a decimal mark, and zeros that nobody says. */
function plainDigits(number: number): string {
  const text = Math.abs(number).toLocaleString('en-US', { useGrouping: false, maximumFractionDigits: 12 });
  return text.replace('.', '').replace(/^0+(?=\d)/, '');
}

function numbersIn(value: string): string[] {
  const groups =
    value
      .normalize('NFKC')
      .replace(datesAndTimes, ' ')
      .match(/\d[\d.,' ]*/g) ?? [];
  return groups.map((group) => group.replace(/\D/g, ''));
}

/** The numbers of a text, as they are written and as each language that we know reads them, and what neighbours make. */
function numbersSaid(text: string): string[] {
  const folded = fold(text);
  const read = numberWords.map((words) => findNumbers(folded, words).map(({ value }) => plainDigits(value)));
  return [text.normalize('NFKC').match(/\d+/g) ?? [], ...read].flatMap(runsOf);
}

/** Dictated in groups: "20, 25, 55". */
function runsOf(groups: readonly string[]): string[] {
  return groups.flatMap((_, start) =>
    groups
      .slice(start, start + maxGroups)
      .map((_, last) => groups.slice(start, start + last + 1).join(''))
      .filter(({ length }) => length <= maxDigits),
  );
}
