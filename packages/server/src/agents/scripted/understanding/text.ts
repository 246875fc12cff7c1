/** How sentences are compared: folded, and by the places where something is mentioned. */

/** Lower case, no diacritics, no punctuation but what belongs to numbers, dates and contractions. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[’‘`´]/g, "'")
    .replace(/[^\p{L}\p{N}'.,:/-]+/gu, ' ')
    .replace(/(?<!\p{N})[.,:/]|[.,:/](?!\p{N})/gu, ' ')
    .replace(/(?<=\p{L})-(?=\p{L})|-(?!\p{N})/gu, ' ')
    .replace(/(?<!\p{L})'|'(?!\p{L})/gu, ' ')
    .replace(/ +/g, ' ')
    .trim();
}

/** A property name or enum member as it is spoken: `preferred_day` and `preferredDay` become `preferred day`. */
export function humanise(name: string): string {
  return name
    .replace(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})/gu, ' ')
    .replace(/[_\s-]+/g, ' ')
    .trim();
}

/** Splits a list of phrases at its commas. */
export function phrases(list: string): string[] {
  return list.trim().replace(/\s+/g, ' ').split(', ');
}

/** A place of folded text that means something. */
export interface Mention<T> {
  readonly value: T;
  readonly start: number;
  readonly end: number;
}

/** Finds whole phrases, at each place the longest one. Phrases are folded already. */
export function phraseFinder<T>(phrases: Iterable<readonly [string, T]>): (text: string) => Mention<T>[] {
  const meanings = new Map(phrases);
  const longestFirst = [...meanings.keys()].sort((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return () => [];
  const alternatives = longestFirst.map((phrase) => phrase.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}'])(?:${alternatives})(?![\\p{L}\\p{N}'])`, 'gu');
  return (text) =>
    [...text.matchAll(pattern)].map((match) => ({
      value: meanings.get(match[0]) as T,
      start: match.index,
      end: match.index + match[0].length,
    }));
}

/** Words with which speakers take back what they just said. */
export interface Repairs {
  /** Stands between two mentions of which the second one counts: "Monday, no, Tuesday". */
  readonly amends: RegExp;
  /** Ends right before a mention that does not count: "not Monday". */
  readonly negates: RegExp;
}

/** The one value that the mentions come down to; null when there is none or they contradict each other. */
export function settle<T>(text: string, mentions: readonly Mention<T>[], repairs: Repairs): T | null {
  let counted: Mention<T>[] = [];
  for (const mention of mentions) {
    const previous = counted.at(-1);
    const amended = previous !== undefined && repairs.amends.test(text.slice(previous.end, mention.start));
    if (amended) counted = [];
    else if (repairs.negates.test(text.slice(0, mention.start))) continue;
    counted.push(mention);
  }
  const values = new Set(counted.map(({ value }) => value));
  const [value] = values;
  return values.size === 1 && value !== undefined ? value : null;
}
