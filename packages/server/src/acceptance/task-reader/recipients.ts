/** The explicit `recipients` of a call task. (Contract: "Legacy: POST /v1/calls".) */
import { isSupportedCountry } from 'libphonenumber-js/max';
import { plainName } from '../../platform/plain-name.ts';
import { phoneProblem } from '../phone-policy.ts';

export interface SentRecipient {
  /** E.164, at least one. */
  readonly phones: readonly string[];
  /** ISO 3166-1 alpha-2; null when none was sent. */
  readonly region: string | null;
  /** BCP 47 in canonical form; null when none was sent. */
  readonly locale: string | null;
}

export interface RecipientsProblem {
  /** `invalid_phone` for a string that is no number to be called, else `invalid_request`. */
  readonly code: 'invalid_request' | 'invalid_phone';
  /** Where, such as `recipients[0].phones[1]`. */
  readonly field: string;
  /** What would be right; never the value. */
  readonly problem: string;
}

export type RecipientsReading =
  | { readonly ok: true; readonly recipients: readonly SentRecipient[] }
  | { readonly ok: false; readonly problems: readonly RecipientsProblem[] };

export const maxRecipients = 100;
export const maxPhones = 5;
const maxProblems = 20;

/** Reads `recipients` as they were sent. `null` for an optional field means that it was left out. Throws: never. */
export function readRecipients(value: unknown): RecipientsReading {
  const problems: RecipientsProblem[] = [];
  const report = (field: string, problem: string, code: RecipientsProblem['code'] = 'invalid_request') => {
    if (problems.length < maxProblems) problems.push({ code, field, problem });
  };
  if (!Array.isArray(value) || value.length === 0 || value.length > maxRecipients) {
    report('recipients', `must be a list of 1 to ${maxRecipients} recipients`);
    return { ok: false, problems };
  }
  const recipients = (value as unknown[]).map((sent, index) => readOne(sent, `recipients[${index}]`, report));
  return problems.length > 0 ? { ok: false, problems } : { ok: true, recipients };
}

type Report = (field: string, problem: string, code?: RecipientsProblem['code']) => void;

const nobody: SentRecipient = { phones: [], region: null, locale: null };

function readOne(sent: unknown, field: string, report: Report): SentRecipient {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    report(field, 'must be an object');
    return nobody;
  }
  const { phones, region, locale, ...others } = sent as Readonly<Record<string, unknown>>;
  for (const name of Object.keys(others)) report(field, `has an unknown field ${plainName(name)}`);
  return {
    phones: readPhones(phones, `${field}.phones`, report),
    region: readRegion(region ?? null, `${field}.region`, report),
    locale: readLocale(locale ?? null, `${field}.locale`, report),
  };
}

function readPhones(sent: unknown, field: string, report: Report): string[] {
  if (!Array.isArray(sent) || sent.length === 0 || sent.length > maxPhones) {
    report(field, `must be a list of 1 to ${maxPhones} numbers`);
    return [];
  }
  const phones = new Set<string>();
  for (const [index, phone] of (sent as unknown[]).entries()) {
    const place = `${field}[${index}]`;
    if (typeof phone !== 'string') report(place, 'must be a string');
    else if (phones.has(phone)) report(place, 'is the same number as one before it');
    else {
      const problem = phoneProblem(phone, null);
      if (problem !== null) report(place, problem.replace(/^phone /, ''), 'invalid_phone');
      phones.add(phone);
    }
  }
  return [...phones];
}

function readRegion(sent: unknown, field: string, report: Report): string | null {
  if (sent === null || (typeof sent === 'string' && isSupportedCountry(sent))) return sent;
  report(field, 'must be an ISO 3166-1 alpha-2 code of a country, such as US');
  return null;
}

const languageNames = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
const localePattern = /^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|\d{3}))?$/;

function readLocale(sent: unknown, field: string, report: Report): string | null {
  if (sent === null) return null;
  const locale = typeof sent === 'string' ? canonicalLocale(sent) : null;
  if (locale === null) report(field, 'must be a BCP 47 locale, such as en-US');
  return locale;
}

function canonicalLocale(sent: string): string | null {
  if (!/^[A-Za-z0-9-]{2,35}$/.test(sent)) return null;
  try {
    const [locale = ''] = Intl.getCanonicalLocales(sent);
    return localePattern.test(locale) && languageNames.of(locale) !== undefined ? locale : null;
  } catch {
    return null;
  }
}
