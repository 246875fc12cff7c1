/**
 * What an attempt would cost. Pure and exact: durations are whole milliseconds, amounts whole millionths of a US dollar.
 *
 *   model fee     per started 10 seconds, by mode; one period at least, also where nobody answered
 *   carrier fee   per minute since the answer, in increments (first, then next, in seconds); nothing without an answer
 *   success fee   waived
 *
 * A preview: nothing is charged by it. Why it is so: docs/decisions/0020-usage.md.
 */
import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import type { Micros } from '../platform/money.ts';

/** A Goal Run; or a call without a Goal, which call tasks are, too. */
export type Mode = 'goal' | 'one_shot';
export type Direction = 'outbound' | 'inbound';

/** What a carrier asks for. The first increment is billed whole, then each that was begun. */
export interface CarrierRate {
  readonly perMinute: Micros;
  /** Seconds, from 1. */
  readonly first: number;
  readonly next: number;
}

/** The rate of an international number, E.164; null when nobody told us. */
export type FindRate = (phone: string, country: string | null) => CarrierRate | null;

export interface PricedAttempt {
  readonly mode: Mode;
  readonly direction: Direction;
  /** The other side's number, E.164; null when a caller hides it. */
  readonly phone: string | null;
  /** From the answer to the end, whole milliseconds; null: nobody answered. */
  readonly answeredMs: number | null;
}

export interface Price {
  /** ISO 3166-1 alpha-2, of the other side's number; null when its numbering plan has none. */
  readonly country: string | null;
  readonly domestic: boolean;
  readonly modelPeriods: number;
  readonly modelPerPeriod: Micros;
  readonly model: Micros;
  readonly carrier: CarrierFee;
}

export type CarrierFee =
  | { readonly kind: 'known'; readonly rate: CarrierRate; readonly seconds: number; readonly amount: Micros }
  /** Nobody answered: no carrier asks for anything, whatever its rate. */
  | { readonly kind: 'none' }
  /** There is no rate for the number. */
  | { readonly kind: 'unknown' };

const periodMs = 10_000;
const perStartedMinute = (perMinute: Micros): CarrierRate => ({ perMinute, first: 60, next: 60 });

/** The contract's preview table. Calls come in to Goals alone. */
const modelPerPeriod: Readonly<Record<Mode, Micros>> = { one_shot: 29_600n, goal: 14_800n };
const domesticRates: Readonly<Record<Mode, CarrierRate>> = {
  one_shot: perStartedMinute(40_000n),
  goal: perStartedMinute(20_000n),
};
const inboundRate = perStartedMinute(6_800n);

const domesticCountries = ['US', 'CA'];
export const isDomestic = (country: string | null): boolean =>
  country !== null && domesticCountries.includes(country);

/** The price of an attempt that was dialled, or came in, and has ended. */
export function priceOf({ mode, direction, phone, answeredMs }: PricedAttempt, findRate: FindRate): Price {
  // Not by `+1`, which the Caribbean has, too.
  const country = (phone === null ? undefined : parsePhoneNumberFromString(phone)?.country) ?? null;
  const domestic = isDomestic(country);
  const rate = () => {
    if (direction === 'inbound') return inboundRate;
    if (domestic) return domesticRates[mode];
    return phone === null ? null : findRate(phone, country);
  };
  const modelPeriods = startedPeriods(answeredMs);
  const perPeriod = modelPerPeriod[mode];
  return {
    country,
    domestic,
    modelPeriods,
    modelPerPeriod: perPeriod,
    model: BigInt(modelPeriods) * perPeriod,
    carrier: answeredMs === null ? { kind: 'none' } : carrierFee(rate(), answeredMs),
  };
}

/** Started periods of 10 s. One at least: the model was made ready when the number was dialled. */
export const startedPeriods = (answeredMs: number | null): number =>
  Math.max(1, Math.ceil((answeredMs ?? 0) / periodMs));

/** Whole increments that cover a duration, in seconds; 0 for a call that ended as it was answered. */
export function billedSeconds({ first, next }: CarrierRate, answeredMs: number): number {
  if (answeredMs <= 0) return 0;
  return first + Math.max(0, Math.ceil((answeredMs - first * 1_000) / (next * 1_000))) * next;
}

/** A share of a minute is rounded up to a millionth, once for each attempt. */
function carrierFee(rate: CarrierRate | null, answeredMs: number): CarrierFee {
  if (rate === null) return { kind: 'unknown' };
  const seconds = billedSeconds(rate, answeredMs);
  return { kind: 'known', rate, seconds, amount: (rate.perMinute * BigInt(seconds) + 59n) / 60n };
}
