import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isExactNumber } from '../../../src/http/exact-number.ts';

const exact = (written: string) => isExactNumber(written, Number(written));

/** The decimal value as a fraction over a power of ten, by whole numbers alone. */
function fraction(text: string): { numerator: bigint; scale: number } {
  const [, sign = '', whole = '', part = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  return { numerator: BigInt(`${sign}${whole}${part}`), scale: Number(exponent) - part.length };
}

function sameValue(one: string, other: string): boolean {
  const a = fraction(one);
  const b = fraction(other);
  const least = Math.min(a.scale, b.scale);
  return a.numerator * 10n ** BigInt(a.scale - least) === b.numerator * 10n ** BigInt(b.scale - least);
}

const digits = (maxLength: number) => fc.stringMatching(new RegExp(`^[0-9]{1,${maxLength}}$`));

describe('a number survives', () => {
  it.each([
    '0',
    '-0',
    '0.0',
    '0e999',
    '1.0',
    '1e2',
    '100e-2',
    '0.1',
    '1E+2',
    '9007199254740992',
    '1e23',
    '100000000000000000000000',
    '1.7976931348623157e308',
    '5e-324',
    '0.30',
    '12e00000000000000000000000001',
  ])('written as %s', (written) => expect(exact(written)).toBe(true));

  it.each([
    '9007199254740993',
    '-9007199254740993',
    '0.10000000000000001',
    '1e999',
    '-1e999',
    '1e-999',
    '1.7976931348623159e308',
    '3e-324',
    '123456789012345678901',
    '1e99999999999999999999',
    '0.1e-99999999999999999999',
  ])('not as %s', (written) => expect(exact(written)).toBe(false));

  it('in every way to write a double’s shortest form', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.nat(20), (value, zeros) => {
        const [mantissa = '', exponent = '0'] = String(value).split('e');
        const padded = `${mantissa}${mantissa.includes('.') ? '' : '.'}${'0'.repeat(zeros)}0e${exponent}`;
        expect(exact(String(value))).toBe(true);
        expect(exact(padded)).toBe(true);
        expect(exact(value.toExponential())).toBe(true);
      }),
      { seed: 3, numRuns: 5_000 },
    );
  });

  it('exactly when its decimal value is that of the double’s shortest form', () => {
    const written = fc
      .tuple(
        fc.constantFrom('', '-'),
        digits(25),
        fc.option(digits(25)),
        fc.option(fc.integer({ min: -40, max: 40 })),
      )
      .map(([sign, whole, part, exponent]) => {
        const tidy = whole.replace(/^0+(?=\d)/, '');
        return `${sign}${tidy}${part === null ? '' : `.${part}`}${exponent === null ? '' : `e${exponent}`}`;
      });
    fc.assert(
      fc.property(written, (text) => {
        expect(exact(text)).toBe(sameValue(text, String(Number(text))));
      }),
      { seed: 4, numRuns: 10_000 },
    );
  });
});
