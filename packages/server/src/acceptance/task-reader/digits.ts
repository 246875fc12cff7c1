/** The digits of a text, whatever script they are in. */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** The zeros of the decimal digits in use: Arabic, Persian, Devanagari, Bengali, Thai, full width. */
const zeros = [0x0660, 0x06f0, 0x0966, 0x09e6, 0x0e50, 0xff10];

/** The text with ASCII digits, and as long as before: what stands at an offset stays there. */
export function withAsciiDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => {
    const code = digit.charCodeAt(0);
    const zero = zeros.find((zero) => digit.length === 1 && code >= zero && code < zero + 10);
    return zero === undefined ? digit : String(code - zero);
  });
}

/** A number's digits as people dial them inside of its country, with a trunk prefix where there is one. */
export function nationalDigits(phone: string): string {
  return (parsePhoneNumberFromString(phone)?.formatNational() ?? '').replace(/\D/g, '');
}

/** Stretches written like one number, on one line. */
const stretch = /(?<plus>\+[ (]?)?\d+(?:(?:\/|[ \t\u00a0\u202f\u3000().\-‐-―−－・]{1,4})\d+)*/g;
/** More groups, or digits, than this are no phone number with all that is dialled before it. */
const maxGroups = 12;
const maxDigits = 24;

/**
 * What of a text may be a phone number, as digits: each few neighbouring groups of digits. A stretch that names its
 * country stands for numbers of that country alone, so it is read from its beginning.
 */
export function literalDigits(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { 0: stretched, groups } of withAsciiDigits(text).matchAll(stretch)) {
    const parts = stretched.match(/\d+/g) ?? [];
    const namesCountry = groups?.['plus'] !== undefined || /^(?:00|011$)/.test(parts[0] ?? '');
    const starts = namesCountry ? [0] : parts.keys();
    for (const start of starts) addBeginnings(parts, start, found);
  }
  return found;
}

/** Adds the group at `start`, and what it begins together with those behind it. */
function addBeginnings(groups: readonly string[], start: number, found: Set<string>): void {
  let digits = '';
  for (const group of groups.slice(start, start + maxGroups)) {
    digits += group;
    if (digits.length > maxDigits) return;
    found.add(digits);
  }
}

const internationalPrefixes = ['', '00', '010', '011', '0011', '810'];
const trunkPrefixes = ['', '0', '06', '8'];

/**
 * Whether an E.164 number is among the digits of a text, with no more before it than what is dialled before a number
 * (international prefix, country code, trunk prefix), or as the people of its country write it.
 */
export function isAmong(digits: ReadonlySet<string>, phone: string): boolean {
  const number = parsePhoneNumberFromString(phone);
  if (number === undefined) return false;
  const { nationalNumber, countryCallingCode } = number;
  const forms = internationalPrefixes.flatMap((prefix) =>
    ['', countryCallingCode].flatMap((code) =>
      trunkPrefixes.map((trunk) => `${prefix}${code}${trunk}${nationalNumber}`),
    ),
  );
  return [nationalDigits(phone), ...forms].some((form) => digits.has(form));
}
