import * as fc from 'fast-check';
import { expect, it, test } from 'vitest';
import { formatAmount, parseAmount } from '../../../src/platform/money.ts';

const amounts = fc.bigInt({ min: 0n, max: 999_999_999_999_999n });

it('an amount that is written and read again is the same', () => {
  fc.assert(
    fc.property(amounts, (amount) => {
      expect(parseAmount(formatAmount(amount))).toBe(amount);
    }),
  );
});

it('an amount is written with four to six decimals, and never in another way', () => {
  fc.assert(
    fc.property(amounts, (amount) => {
      expect(formatAmount(amount)).toMatch(/^(0|[1-9]\d*)\.\d{4}(\d?[1-9])?$/);
    }),
  );
});

test.each([
  ['0', 0n],
  ['0.0148', 14_800n],
  ['12.5', 12_500_000n],
  ['0.000001', 1n],
  ['999999999.999999', 999_999_999_999_999n],
])('%s is read as %s', (text, amount) => expect(parseAmount(text)).toBe(amount));

test.each(['', '-1', '+1', '1e3', '.5', '1.', '1,5', ' 1', '1.0000001', '1000000000', '0x1', 'NaN', '１'])(
  '%j is no amount',
  (text) => expect(parseAmount(text)).toBeNull(),
);

it('a negative amount is a mistake', () => expect(() => formatAmount(-1n)).toThrow('negative'));
