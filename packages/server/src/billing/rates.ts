/**
 * The rate file: what the carrier asks for calls abroad. YAML or JSON:
 *
 *     currency: USD
 *     rates:
 *       - { prefix: '+4479', per_minute: '0.0310', increments: 1/1 }
 *       - { country: GB, per_minute: '0.0120', increments: 60/60 }
 *       - { prefix: '+', per_minute: '0.5000' }
 *
 * The longest fitting prefix counts; where none fits but `+`, which fits all, a rate of the number's country comes
 * first. Without `increments` started minutes are billed, 60/60.
 */
import { isSupportedCountry } from 'libphonenumber-js/max';
import { parse } from 'yaml';
import { parseAmount } from '../platform/money.ts';
import { isDomestic, type CarrierRate, type FindRate } from './prices.ts';

/** The rate file can not be used; the message names the place and what would be right. */
export class RateProblem extends Error {
  override readonly name = 'RateProblem';
}

/** Prices of all operators of the world are some 60,000. */
const maxRates = 100_000;
const maxPrefixDigits = 15;
const highestIncrement = 3_600;
const fields = ['prefix', 'country', 'per_minute', 'increments'];

/** Without a file no rate is known. */
export const noRates: FindRate = () => null;

/** Reads the text of a rate file. Throws: RateProblem for the first thing that is wrong. */
export function readRates(text: string): FindRate {
  const rates = new Map<string, CarrierRate>();
  for (const [index, entry] of entriesOf(text).entries()) {
    const place = `rates.${index}`;
    const { key, rate } = readEntry(place, entry);
    if (rates.has(key)) throw new RateProblem(`${place}: there is another rate for ${key}`);
    rates.set(key, rate);
  }
  return (phone, country) => {
    for (let length = Math.min(phone.length, maxPrefixDigits + 1); length > 1; length -= 1) {
      const rate = rates.get(phone.slice(0, length));
      if (rate !== undefined) return rate;
    }
    return (country === null ? undefined : rates.get(country)) ?? rates.get('+') ?? null;
  };
}

function entriesOf(text: string): readonly unknown[] {
  let content: unknown;
  try {
    content = parse(text);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : '';
    throw new RateProblem(`it is neither YAML nor JSON: ${why}`);
  }
  if (!isObject(content)) throw new RateProblem('it must hold currency and rates');
  const unknown = Object.keys(content).find((name) => name !== 'currency' && name !== 'rates');
  if (unknown !== undefined) throw new RateProblem('it holds something beside currency and rates');
  if (content['currency'] !== 'USD') throw new RateProblem('currency must be USD');
  const rates = content['rates'];
  if (!Array.isArray(rates)) throw new RateProblem('rates must be a list');
  if (rates.length > maxRates) throw new RateProblem(`rates must have at most ${maxRates} entries`);
  return rates;
}

function readEntry(place: string, entry: unknown): { key: string; rate: CarrierRate } {
  if (!isObject(entry)) throw new RateProblem(`${place} must be a mapping with ${fields.join(', ')}`);
  if (Object.keys(entry).some((name) => !fields.includes(name)))
    throw new RateProblem(`${place} has a field that is none of ${fields.join(', ')}`);
  return {
    key: keyOf(place, entry),
    rate: { perMinute: priceOf(place, entry), ...incrementsOf(place, entry) },
  };
}

/** The prefix with its `+`, or the country: neither can be taken for the other. */
function keyOf(place: string, { prefix, country }: Entry): string {
  if ((prefix === undefined) === (country === undefined))
    throw new RateProblem(`${place} must have either prefix or country`);
  if (prefix !== undefined) {
    if (typeof prefix === 'string' && /^\+\d{0,15}$/.test(prefix)) return prefix;
    throw new RateProblem(`${place}.prefix must be + and up to ${maxPrefixDigits} digits, in quotes`);
  }
  if (typeof country !== 'string' || !isSupportedCountry(country))
    throw new RateProblem(`${place}.country must be a country, ISO 3166-1 alpha-2, such as GB`);
  if (isDomestic(country))
    throw new RateProblem(`${place}.country must not be US or CA: the table of prices has their rates`);
  return country;
}

function priceOf(place: string, { per_minute: price }: Entry): bigint {
  const isPlain = typeof price === 'string' || typeof price === 'number';
  const amount = isPlain ? parseAmount(String(price)) : null;
  if (amount === null || amount > 1_000_000_000n)
    throw new RateProblem(
      `${place}.per_minute must be dollars from 0 to 1000 with up to six decimals, such as '0.0120'`,
    );
  return amount;
}

function incrementsOf(place: string, { increments = '60/60' }: Entry): { first: number; next: number } {
  const match = typeof increments === 'string' ? /^(\d{1,4})\/(\d{1,4})$/.exec(increments) : null;
  const [first, next] = [Number(match?.[1]), Number(match?.[2])];
  if (first >= 1 && next >= 1 && Math.max(first, next) <= highestIncrement) return { first, next };
  throw new RateProblem(
    `${place}.increments must be seconds from 1 to ${highestIncrement}, first and next, such as 60/60 or 1/1`,
  );
}

type Entry = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
