import * as fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  billedSeconds,
  priceOf,
  startedPeriods,
  type CarrierRate,
  type FindRate,
  type Price,
  type PricedAttempt,
} from '../../../src/billing/prices.ts';
import { formatAmount } from '../../../src/platform/money.ts';

const american = '+12025550100';
const canadian = '+14165550123';
const jamaican = '+18765551234';
const british = '+442079460000';
const dear: CarrierRate = { perMinute: 1_234_567n, first: 30, next: 6 };
const always =
  (rate: CarrierRate): FindRate =>
  () =>
    rate;
const never: FindRate = () => null;

const carrierOf = ({ carrier }: Price): bigint | null =>
  carrier.kind === 'unknown' ? null : carrier.kind === 'none' ? 0n : carrier.amount;

const outbound = (answeredMs: number | null, over: Partial<PricedAttempt> = {}): PricedAttempt => ({
  mode: 'goal',
  direction: 'outbound',
  phone: american,
  answeredMs,
  ...over,
});

describe('the table of prices', () => {
  // Ten minutes: 60 periods, 10 minutes.
  test.each([
    ['outbound', 'one_shot', '1.7760', '0.4000'],
    ['outbound', 'goal', '0.8880', '0.2000'],
    ['inbound', 'goal', '0.8880', '0.0680'],
  ] as const)(
    '%s %s: ten minutes cost %s for the model and %s for the carrier',
    (direction, mode, model, carrier) => {
      const price = priceOf(outbound(600_000, { direction, mode }), never);
      expect([formatAmount(price.model), formatAmount(carrierOf(price) ?? -1n)]).toEqual([model, carrier]);
    },
  );

  test.each([
    [0, 1, 0],
    [1, 1, 1],
    [10_000, 1, 1],
    [10_001, 2, 1],
    [59_900, 6, 1],
    [60_000, 6, 1],
    [60_001, 7, 2],
    [60_100, 7, 2],
  ])('%i ms are %i periods and %i minutes', (ms, periods, minutes) => {
    const price = priceOf(outbound(ms), never);
    expect(price.modelPeriods).toBe(periods);
    expect(price.model).toBe(BigInt(periods) * 14_800n);
    expect(carrierOf(price)).toBe(BigInt(minutes) * 20_000n);
  });

  it('asks one period of the model, and nothing of the carrier, where nobody answered', () => {
    for (const phone of [american, british]) {
      const price = priceOf(outbound(null, { phone }), never);
      expect(price).toMatchObject({ modelPeriods: 1, model: 14_800n, carrier: { kind: 'none' } });
    }
  });
});

describe('domestic', () => {
  test.each([
    [american, 'US', true],
    [canadian, 'CA', true],
    ['+18005550100', 'US', true],
    [jamaican, 'JM', false],
    ['+12425551234', 'BS', false],
    ['+17875551234', 'PR', false],
    [british, 'GB', false],
    ['+88213123456', null, false],
  ])('%s is of %s: %s', (phone, country, domestic) => {
    const price = priceOf(outbound(60_000, { phone }), never);
    expect(price).toMatchObject({ country, domestic, carrier: { kind: domestic ? 'known' : 'unknown' } });
  });

  it('does not ask the rate file, and calls that come in have one price wherever they come from', () => {
    expect(carrierOf(priceOf(outbound(1), always(dear)))).toBe(20_000n);
    for (const phone of [american, british, null]) {
      expect(carrierOf(priceOf(outbound(60_001, { phone, direction: 'inbound' }), never))).toBe(13_600n);
    }
  });
});

describe('increments of a carrier', () => {
  test.each([
    [60, 60, [0, 60, 60, 60, 60, 60, 120, 120]],
    [30, 6, [0, 30, 30, 30, 60, 60, 66, 66]],
    [1, 1, [0, 1, 10, 11, 60, 60, 61, 61]],
  ])('%i/%i', (first, next, expected) => {
    const durations = [0, 1, 10_000, 10_001, 59_900, 60_000, 60_001, 60_100];
    expect(durations.map((ms) => billedSeconds({ perMinute: 0n, first, next }, ms))).toEqual(expected);
  });

  it('rounds a share of a minute up to a millionth, once', () => {
    const rate = { perMinute: 10_000n, first: 1, next: 1 };
    const price = priceOf(outbound(1_000, { phone: british }), always(rate));
    expect(carrierOf(price)).toBe(167n);
    expect(carrierOf(priceOf(outbound(60_000, { phone: british }), always(rate)))).toBe(10_000n);
  });
});

const rates = fc.record({
  perMinute: fc.bigInt({ min: 0n, max: 1_000_000_000n }),
  first: fc.integer({ min: 1, max: 3_600 }),
  next: fc.integer({ min: 1, max: 3_600 }),
});
const durations = fc.integer({ min: 0, max: 86_400_000 });
const attempts = fc.record({
  mode: fc.constantFrom('goal' as const, 'one_shot' as const),
  direction: fc.constantFrom('outbound' as const, 'inbound' as const),
  phone: fc.constantFrom(american, canadian, jamaican, british, null),
  answeredMs: fc.option(durations),
});

describe('whatever is called, at whatever rate', () => {
  it('no part is negative, and the carrier is unknown exactly where a rate was wanted and is missing', () => {
    fc.assert(
      fc.property(attempts, fc.option(rates), (attempt, rate) => {
        const price = priceOf(attempt, () => rate);
        expect(price.model > 0n).toBe(true);
        const amount = carrierOf(price);
        const wanted = attempt.answeredMs !== null && attempt.direction === 'outbound' && !price.domestic;
        expect(amount === null).toBe(wanted && (rate === null || attempt.phone === null));
        expect((amount ?? 0n) >= 0n).toBe(true);
      }),
    );
  });

  it('a longer call never costs less, nor an answered one less than one that nobody answered', () => {
    fc.assert(
      fc.property(attempts, rates, durations, durations, (attempt, rate, a, b) => {
        const [shorter, longer] = [Math.min(a, b), Math.max(a, b)];
        const price = (answeredMs: number | null) => priceOf({ ...attempt, answeredMs }, always(rate));
        const steps = [price(null), price(shorter), price(longer)];
        const models = steps.map(({ model }) => model);
        const carriers = steps.map((step) => carrierOf(step) ?? 0n);
        expect(models).toEqual(models.toSorted((x, y) => Number(x - y)));
        expect(carriers).toEqual(carriers.toSorted((x, y) => Number(x - y)));
      }),
    );
  });

  it('whole periods and increments add up: two calls of whole minutes cost what one of both together does', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 1, max: 600 }), (a, b) => {
        const total = (minutes: number) => {
          const price = priceOf(outbound(minutes * 60_000), never);
          return price.model + (carrierOf(price) ?? 0n);
        };
        expect(total(a) + total(b)).toBe(total(a + b));
      }),
    );
  });

  it('what is billed covers the call, and by less than an increment more', () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 1, max: 86_400_000 }), (rate, ms) => {
        const billed = billedSeconds(rate, ms) * 1_000;
        expect(billed).toBeGreaterThanOrEqual(ms);
        expect(billed - ms).toBeLessThan((billed === rate.first * 1_000 ? rate.first : rate.next) * 1_000);
        expect((billed / 1_000 - rate.first) % rate.next).toBe(0);
        expect((startedPeriods(ms) - 1) * 10_000).toBeLessThan(ms);
        expect(startedPeriods(ms) * 10_000).toBeGreaterThanOrEqual(ms);
      }),
    );
  });
});
