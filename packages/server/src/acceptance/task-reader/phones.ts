/** Finds the numbers to call in the words of a task. */
import { findPhoneNumbersInText, isSupportedCountry, type PhoneNumber } from 'libphonenumber-js/max';
import { isAmong, literalDigits, nationalDigits, withAsciiDigits } from './digits.ts';
import { isNoPhone, isNotToBeCalled, meansInstead, mentionsPhone } from './labels.ts';

export interface Target {
  /** E.164. */
  readonly phone: string;
  /** ISO 3166-1 alpha-2; null for numbers of no country. */
  readonly country: string | null;
  readonly hasExtension: boolean;
  /** It is for when the target before it does not answer. */
  readonly instead: boolean;
}

interface Candidate {
  readonly number: PhoneNumber;
  readonly startsAt: number;
  readonly endsAt: number;
}

/** As far as words before digits say something about them, UTF-16 units. */
const maxReach = 120;

/**
 * The numbers that a task says to call, in order, each once. National numbers are read as those of `region`.
 *
 * What may be something else is left out: the number of an order, an amount, a date, a number to call back, a number
 * that is not to be called, digits that are not written like a number of their country.
 */
export function findTargets(task: string, region: string): Target[] {
  const text = withAsciiDigits(task);
  const found = numbersIn(text, region);
  const targets = new Map<string, Target>();
  let previousEnd: number | null = null;
  for (const [index, candidate] of found.entries()) {
    const from = found[index - 1]?.endsAt ?? 0;
    if (!isTarget(text, candidate, from)) continue;
    const { number, startsAt, endsAt } = candidate;
    const between = previousEnd === null ? '' : text.slice(previousEnd, startsAt);
    const instead = between.length <= maxReach && meansInstead(between, endOfSentence(between));
    previousEnd = endsAt;
    if (targets.has(number.number)) continue;
    const hasExtension = number.ext !== undefined;
    const country = number.country ?? null;
    targets.set(number.number, { phone: number.number, country, hasExtension, instead });
  }
  return [...targets.values()];
}

/** The task with `mark` in place of everything that may be a phone number. */
export function maskNumbers(task: string, region: string, mark: string): string {
  return numbersIn(withAsciiDigits(task), region).reduceRight(
    (text, { startsAt, endsAt }) => text.slice(0, startsAt) + mark + text.slice(endsAt),
    task,
  );
}

function numbersIn(text: string, region: string): Candidate[] {
  return isSupportedCountry(region) ? findPhoneNumbersInText(text, region) : findPhoneNumbersInText(text);
}

function isTarget(text: string, { number, startsAt, endsAt }: Candidate, from: number): boolean {
  const written = text.slice(startsAt, endsAt);
  const before = endOfSentence(text.slice(Math.max(from, startsAt - maxReach), startsAt));
  const behind = text.slice(endsAt, endsAt + maxReach);
  if (!isAmong(literalDigits(written), number.number) || isNotToBeCalled(before, behind)) return false;
  if (isInternational(written)) return true;
  if (isNoPhone(before, behind) || isDate(written) || isAddress(written)) return false;
  if (!isWrittenAsAtHome(written, number)) return false;
  const isBare = /^\d+$/.test(written);
  return !isBare || mentionsPhone(endOfSentence(text.slice(Math.max(0, startsAt - maxReach), startsAt)));
}

/** The last sentence, or what there is of it. An abbreviation ends none. */
function endOfSentence(text: string): string {
  return text.split(/(?<=[\p{L}\d)]{4})[.!?]\s|[。！？\n]/u).at(-1) ?? '';
}

function isInternational(written: string): boolean {
  return /^[^\d]*\+|^00|^011/.test(written);
}

/** A national number has its trunk prefix where people write one; an order number has none. */
function isWrittenAsAtHome(written: string, { number }: PhoneNumber): boolean {
  const digits = written.replace(/(?:\p{L}|[;#]).*$/u, '').replace(/\D/g, '');
  return digits.endsWith(nationalDigits(number));
}

function isDate(written: string): boolean {
  const [, year, month, day] =
    /^(\d{4})[-./ ]?(\d\d)[-./ ]?(\d\d)(?!\d{3})/.exec(written) ??
    reordered(/^(\d{1,2})[-./ ](\d{1,2})[-./ ](\d{4})(?!\d)/.exec(written)) ??
    [];
  if (year === undefined || month === undefined || day === undefined) return false;
  const plausible = Number(year) >= 1900 && Number(year) < 2100;
  return (
    plausible && Math.min(Number(month), Number(day)) <= 12 && Math.max(Number(month), Number(day)) <= 31
  );
}

function reordered(match: RegExpExecArray | null): readonly (string | undefined)[] | null {
  return match === null ? null : [match[0], match[3], match[2], match[1]];
}

/** An IPv4 address. Numbers written in four groups of two digits are Danish ones. */
function isAddress(written: string): boolean {
  return /^\d{1,3}(?:\.\d{1,3}){3}$/.test(written) && !/^\d\d(?:\.\d\d){3}$/.test(written);
}
