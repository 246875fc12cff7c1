import type { Mention } from './text.ts';

/** How a language says numbers; all words folded. */
export interface NumberWords {
  /** Words whose values add up: `twenty`, `five`, `doscientos`. */
  readonly units: Readonly<Record<string, number>>;
  /** Words that multiply what stands before them: `hundred`, `mil`. */
  readonly scales: Readonly<Record<string, number>>;
  /** Whole phrases: `half a dozen`. */
  readonly phrases: Readonly<Record<string, number>>;
  /** Joins parts of one number: `and`, `y`. */
  readonly and: string;
  /** Adds a half: `and a half`. */
  readonly half: readonly string[];
  readonly minus: string;
  /** The spoken decimal mark: `point`, `coma`. */
  readonly point: string;
  readonly decimalMark: '.' | ',';
}

interface Part {
  readonly value: number;
  /** Index of the word behind it. */
  readonly next: number;
}

/** Finds all numbers of a folded text, in digits and in words. */
export function findNumbers(text: string, words: NumberWords): Mention<number>[] {
  const tokens = [...text.matchAll(/\S+/g)].map((match) => ({ word: match[0], start: match.index }));
  const spoken = tokens.map(({ word }) => word);
  const mentions: Mention<number>[] = [];
  for (let index = 0; index < tokens.length;) {
    const part = readSigned(spoken, index, words);
    const first = tokens[index];
    const last = part === null ? undefined : tokens[part.next - 1];
    if (part === null || first === undefined || last === undefined) {
      index += 1;
      continue;
    }
    mentions.push({ value: part.value, start: first.start, end: last.start + last.word.length });
    index = part.next;
  }
  return mentions;
}

function readSigned(spoken: readonly string[], index: number, words: NumberWords): Part | null {
  if (spoken[index] !== words.minus) return readNumber(spoken, index, words);
  const part = readNumber(spoken, index + 1, words);
  return part === null ? null : { value: -part.value, next: part.next };
}

function readNumber(spoken: readonly string[], index: number, words: NumberWords): Part | null {
  const whole =
    readPhrase(spoken, index, words) ?? readDigits(spoken, index, words) ?? readWords(spoken, index, words);
  return whole === null ? null : readFraction(spoken, whole, words);
}

function readPhrase(spoken: readonly string[], index: number, words: NumberWords): Part | null {
  let best: Part | null = null;
  for (const [phrase, value] of Object.entries(words.phrases)) {
    const next = index + phrase.split(' ').length;
    const longer = best === null || next > best.next;
    if (longer && spoken.slice(index, next).join(' ') === phrase) best = { value, next };
  }
  return best;
}

function readDigits(spoken: readonly string[], index: number, words: NumberWords): Part | null {
  const value = parseDigits(spoken[index] ?? '', words.decimalMark);
  if (value === null) return null;
  const scale = own(words.scales, spoken[index + 1]);
  return scale === null ? { value, next: index + 1 } : { value: value * scale, next: index + 2 };
}

function parseDigits(word: string, decimalMark: '.' | ','): number | null {
  const thousands = decimalMark === '.' ? ',' : '.';
  const grouped = new RegExp(`^-?\\d{1,3}(\\${thousands}\\d{3})+(\\${decimalMark}\\d+)?$`);
  const plain = grouped.test(word) ? word.replaceAll(thousands, '') : word;
  const decimal = plain.replace(',', '.');
  return /^-?\d{1,15}(\.\d{1,9})?$/.test(decimal) ? Number(decimal) : null;
}

/** Reads "two hundred and fifty": a word adds up only when it is smaller than all before it. */
function readWords(spoken: readonly string[], start: number, words: NumberWords): Part | null {
  let total = 0;
  let current: number | null = null;
  let room = Infinity;
  let next = start;
  for (let index = start; index < spoken.length; index += 1) {
    const word = spoken[index];
    if (word === words.and && index > start && index === next) continue;
    const unit = own(words.units, word);
    const scale = own(words.scales, word);
    if (unit !== null && unit < room && (unit > 0 || index === start)) {
      current = (current ?? 0) + unit;
      room = magnitude(unit);
    } else if (scale !== null && scale < 1_000 && (current ?? 1) < 100) {
      current = (current ?? 1) * scale;
      room = 100;
    } else if (scale !== null && scale >= 1_000 && (index === start || current !== null)) {
      total += (current ?? 1) * scale;
      current = null;
      room = scale;
    } else break;
    next = index + 1;
  }
  return next === start ? null : { value: total + (current ?? 0), next };
}

/** What may follow a unit must be smaller than this: after `twenty` a digit, after `five` nothing. */
function magnitude(unit: number): number {
  if (unit >= 100) return 100;
  return unit >= 20 && unit % 10 === 0 ? 10 : 0;
}

function readFraction(spoken: readonly string[], whole: Part, words: NumberWords): Part {
  for (const half of words.half) {
    const next = whole.next + half.split(' ').length;
    if (spoken.slice(whole.next, next).join(' ') === half) return { value: whole.value + 0.5, next };
  }
  if (spoken[whole.next] !== words.point) return whole;
  let digits = '';
  let next = whole.next + 1;
  for (; next < spoken.length && digits.length < 9; next += 1) {
    const word = spoken[next] ?? '';
    const digit = /^\d+$/.test(word) ? word : own(words.units, word);
    if (digit === null || (typeof digit === 'number' && digit > 9)) break;
    digits += String(digit);
  }
  return digits === '' ? whole : { value: Number(`${whole.value}.${digits}`), next };
}

function own(values: Readonly<Record<string, number>>, word: string | undefined): number | null {
  return word !== undefined && Object.hasOwn(values, word) ? (values[word] ?? null) : null;
}

/** The keys of a telephone by the words for their digits. */
export function keyWords(units: Readonly<Record<string, number>>): Record<string, string> {
  const digits = Object.entries(units).filter(([, value]) => value <= 9);
  return Object.fromEntries(digits.map(([word, value]) => [word, String(value)]));
}
