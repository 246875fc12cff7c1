/** Finds the numbers to call in the words of a task. */
import { findPhoneNumbersInText, isSupportedCountry, type PhoneNumber } from 'libphonenumber-js/max';
import { isAmong, literalDigits, nationalDigits, withAsciiDigits } from './digits.ts';
import { governs, isLabelled, isListed, isMentioned, isStated, newOrderIn, ordersCall } from './governing.ts';
import { isForOtherUse, isNoPhone, meansInstead, mentionsPhone } from './labels.ts';
import { forbidsAbove, forbidsBehind, forbidsFormer, leavesOut, prohibitionIn } from './prohibitions.ts';
import { sentencesOf, type Sentence } from './sentences.ts';

export interface Target {
  /** E.164. */
  readonly phone: string;
  /** ISO 3166-1 alpha-2; null for numbers of no country. */
  readonly country: string | null;
  readonly hasExtension: boolean;
  /** It is for when the target before it does not answer. */
  readonly instead: boolean;
}

export type Targets =
  | { readonly kind: 'found'; readonly targets: readonly Target[] }
  /** More numbers, or digits, than are looked at. */
  | { readonly kind: 'too_many' };

interface Candidate {
  readonly number: PhoneNumber;
  readonly startsAt: number;
  readonly endsAt: number;
}

/** What a task says of a number. What is only `stated` to be somebody's is called when nothing else is to be called. */
type Verdict = 'target' | 'stated' | 'forbidden' | 'mentioned';

/** As far as words before or behind digits say something about them, UTF-16 units. */
const maxReach = 400;
/** A longer line is no entry of a list, UTF-16 units. */
const maxEntry = 60;
/** Five for each of a hundred recipients, and some to speak of. */
const maxCandidates = 600;
/** Groups of digits in what may be numbers. Each costs time, and each stretch as much as three. */
const maxGroups = 2_000;

/**
 * The numbers that a task says to call, in order, each once; none when it contradicts itself. National numbers are read
 * as those of `region`.
 *
 * A number needs words that say to call it: an order, an address ("at …"), a label, a place in a list. What may be
 * something else is left out: the number of an order, an amount, a date, a number to call back or to pass on, digits
 * that are not written like a number of their country. What is forbidden anywhere is called nowhere. Takes time in
 * proportion to the task's length.
 */
export function findTargets(task: string, region: string): Targets {
  const text = withAsciiDigits(task);
  const found = numbersIn(text, region);
  if (found === null || found.length > maxCandidates) return { kind: 'too_many' };
  const verdicts = judged(text, found);
  const judgedAs = (verdict: Verdict) => found.filter((_, index) => verdicts[index] === verdict);
  const [chosen, stated] = [judgedAs('target'), judgedAs('stated')];
  const called = chosen.length > 0 ? chosen : stated;
  const phones = new Set(called.map(({ number }) => number.number));
  const isContradicted =
    judgedAs('forbidden').some(({ number }) => phones.has(number.number)) ||
    stated.some(({ number }) => !phones.has(number.number));
  return { kind: 'found', targets: isContradicted ? [] : inOrder(text, called) };
}

function inOrder(text: string, called: readonly Candidate[]): Target[] {
  const targets = new Map<string, Target>();
  let previousEnd: number | null = null;
  for (const { number, startsAt, endsAt } of called) {
    const instead = previousEnd !== null && isInstead(text.slice(previousEnd, startsAt));
    previousEnd = endsAt;
    if (targets.has(number.number)) continue;
    const hasExtension = number.ext !== undefined;
    const country = number.country ?? null;
    targets.set(number.number, { phone: number.number, country, hasExtension, instead });
  }
  return [...targets.values()];
}

function isInstead(between: string): boolean {
  if (between.length > maxReach) return false;
  const last = sentencesOf(between).at(-1);
  return meansInstead(between, between.slice(last?.startsAt));
}

/** The task with `mark` in place of everything that may be a phone number. */
export function maskNumbers(task: string, region: string, mark: string): string {
  const found = numbersIn(withAsciiDigits(task), region);
  if (found === null) return task.replace(/\p{Nd}+/gu, mark);
  return found.reduceRight(
    (text, { startsAt, endsAt }) => text.slice(0, startsAt) + mark + text.slice(endsAt),
    task,
  );
}

/** Digits written like one number, or several of them side by side. */
const stretch = /\d+(?:[ \u00a0\u00ad\u200b\u2060\u3000()./[\]\-‐-―−－ー~⁓∼～+]{1,8}\d+)*/g;
/** No phone number is shorter, and no extension stands further behind one. */
const minDigits = 5;
const extensionReach = 25;

/** What may be phone numbers, in order; null when it is too much to be looked at. */
function numbersIn(text: string, region: string): Candidate[] | null {
  let groups = 0;
  let lastEnd = -extensionReach;
  const plain = text.replace(stretch, (digits, startsAt: number) => {
    const isShort = digits.length < minDigits || digits.replace(/\D/g, '').length < minDigits;
    if (isShort && startsAt - lastEnd > extensionReach) return '…'.repeat(digits.length);
    if (!isShort) lastEnd = startsAt + digits.length;
    groups += Math.max(3, (digits.match(/\d+/g) ?? []).length);
    return digits;
  });
  if (groups > maxGroups) return null;
  const found = isSupportedCountry(region)
    ? findPhoneNumbersInText(plain, region)
    : findPhoneNumbersInText(plain);
  return found.map(({ number, startsAt, endsAt }) => ({
    number,
    // "Ana (+1 …)": the bracket is none of the number's.
    startsAt: startsAt + (/^\(\s*(?=\+)/.exec(plain.slice(startsAt, endsAt))?.[0].length ?? 0),
    endsAt,
  }));
}

/** A number and the words around it. */
interface Place {
  readonly candidate: Candidate;
  readonly written: string;
  /** The words of its sentence before it, as far as the number before it. */
  readonly before: string;
  /** The words of its sentence behind it, as far as the next number. */
  readonly behind: string;
  readonly isFirstInSentence: boolean;
  readonly isLastInSentence: boolean;
  /** The sentence before that of the number, or the heading of its list; empty when that has numbers of its own. */
  readonly above: string;
  /** The sentence behind that of the number; empty when that has numbers of its own. */
  readonly below: string;
}

function placesOf(text: string, found: readonly Candidate[]): Place[] {
  const places: Place[] = [];
  let above = '';
  let isUsed = false;
  for (const sentence of sentencesOf(text)) {
    const { startsAt, endsAt } = sentence;
    const first = places.length;
    while ((found[places.length]?.startsAt ?? Infinity) < endsAt) {
      places.push(...placeAt(text, found, places.length, sentence, above));
    }
    const words = text.slice(Math.max(startsAt, endsAt - maxReach), endsAt);
    if (places.length > first) {
      isUsed = true;
      if (!isHeading(above)) above = '';
    } else if (!/\p{L}/u.test(words)) {
      if (isUsed) above = '';
    } else if (!isHeading(above) || isHeading(words) || words.length > maxEntry || ordersCall(words)) {
      above = words;
      isUsed = false;
    }
  }
  return places;
}

/** The candidate at `index` with what stands around it; none when there is no such candidate. */
function placeAt(
  text: string,
  found: readonly Candidate[],
  index: number,
  { startsAt, endsAt }: Sentence,
  above: string,
): Place[] {
  const candidate = found[index];
  if (candidate === undefined) return [];
  const previous = found[index - 1]?.endsAt ?? 0;
  const next = found[index + 1]?.startsAt ?? Infinity;
  const from = Math.max(startsAt, previous, candidate.startsAt - maxReach);
  const to = Math.min(endsAt, next, candidate.endsAt + maxReach);
  const isLastInSentence = next >= endsAt;
  return [
    {
      candidate,
      written: text.slice(candidate.startsAt, candidate.endsAt),
      before: text.slice(from, candidate.startsAt),
      behind: text.slice(candidate.endsAt, to),
      isFirstInSentence: index === 0 || previous <= startsAt,
      isLastInSentence,
      above,
      below: isLastInSentence ? sentenceAt(text, endsAt, next) : '',
    },
  ];
}

/** A line that ends with a colon stands over the lines below it, down to an empty one. */
function isHeading(words: string): boolean {
  return /[:：]\s*$/.test(words);
}

/** The sentence that begins at an offset; empty when a number stands in it. */
function sentenceAt(text: string, startsAt: number, numberAt: number): string {
  const words = text.slice(startsAt, Math.min(startsAt + maxReach, numberAt)).replace(/^\s+/, '');
  const [sentence] = sentencesOf(words);
  const reachesNumber = numberAt <= startsAt + maxReach && sentence?.endsAt === words.length;
  return reachesNumber ? '' : words.slice(0, sentence?.endsAt);
}

/** What the task says of each candidate. */
function judged(text: string, found: readonly Candidate[]): Verdict[] {
  const saysToCall = ordersCall(text);
  const isBare = !/\p{L}/u.test(text);
  const verdicts: Verdict[] = [];
  for (const place of placesOf(text, found)) {
    const inherited = place.isFirstInSentence || !isListed(place.before) ? null : (verdicts.at(-1) ?? null);
    verdicts.push(verdictOn(place, inherited, saysToCall, isBare));
  }
  return verdicts;
}

function verdictOn(place: Place, inherited: Verdict | null, saysToCall: boolean, isBare: boolean): Verdict {
  const { before, behind, above } = place;
  const order = newOrderIn(before);
  const own = order < before.length ? before.slice(order) : before;
  if (inherited === 'forbidden' || isForbidden(place, own)) return 'forbidden';
  if (!isWrittenAsPhone(place)) return 'mentioned';
  const said = startsWithAnd(own) ? before : own;
  if (isForOtherUse(said, behind) || isMentioned(said, behind)) return 'mentioned';
  if (isStated(own)) return 'stated';
  if (isBare || isLabelled(own)) return 'target';
  if (inherited !== null) return inherited;
  if (governs(own, behind) || meansInstead(before, before)) return 'target';
  return isListed(before) && (saysToCall || ordersCall(above)) ? 'target' : 'mentioned';
}

/** "Ask Ana to wait and call …": the order may be hers. */
function startsWithAnd(own: string): boolean {
  return /^[\s"“'(]*(?:and|y|e|und|et)(?!\p{L})/iu.test(own);
}

function isForbidden({ before, behind, isLastInSentence, above, below }: Place, own: string): boolean {
  if (prohibitionIn(own) !== null || leavesOut(own)) return true;
  if (prohibitionIn(above) !== null && (isHeading(above) || !ordersCall(before))) return true;
  if (isLastInSentence) return forbidsBehind(behind) || forbidsAbove(below);
  const next = newOrderIn(behind);
  return next < behind.length ? forbidsBehind(behind.slice(0, next)) : forbidsFormer(behind);
}

/** Whether it is a number as people of its country write one, and not a date, an amount or the like. */
function isWrittenAsPhone({ candidate: { number }, written, before, behind }: Place): boolean {
  if (!isAmong(literalDigits(written), number.number)) return false;
  if (isInternational(written)) return true;
  if (isNoPhone(before, behind) || isDate(written) || isAddress(written)) return false;
  if (!isWrittenAsAtHome(written, number)) return false;
  return !/^\d+$/.test(written) || mentionsPhone(before) || mentionsPhone(behind);
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
