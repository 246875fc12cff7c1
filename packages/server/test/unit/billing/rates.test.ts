import { expect, it, test } from 'vitest';
import { RateProblem, readRates } from '../../../src/billing/rates.ts';

const file = (...rates: string[]) =>
  `currency: USD\nrates:\n${rates.map((rate) => `  - ${rate}\n`).join('')}`;

it('the longest fitting prefix counts, then the country, then what fits all', () => {
  const find = readRates(
    file(
      "{ prefix: '+44', per_minute: 0.01 }",
      "{ prefix: '+4479', per_minute: '0.031', increments: 1/1 }",
      "{ country: JM, per_minute: '0.2', increments: 30/6 }",
      "{ prefix: '+', per_minute: 0.5 }",
    ),
  );
  expect(find('+442079460000', 'GB')).toEqual({ perMinute: 10_000n, first: 60, next: 60 });
  expect(find('+447911123456', 'GG')).toEqual({ perMinute: 31_000n, first: 1, next: 1 });
  expect(find('+18765551234', 'JM')).toEqual({ perMinute: 200_000n, first: 30, next: 6 });
  expect(find('+88213123456', null)).toEqual({ perMinute: 500_000n, first: 60, next: 60 });
});

it('a number that no entry fits has no rate', () => {
  const find = readRates(file('{ country: GB, per_minute: 0 }'));
  expect(find('+33123456789', 'FR')).toBeNull();
  expect(find('+442079460000', 'GB')).toMatchObject({ perMinute: 0n });
});

it('JSON is read, too', () => {
  const find = readRates('{"currency":"USD","rates":[{"prefix":"+33","per_minute":"1000"}]}');
  expect(find('+33123456789', 'FR')?.perMinute).toBe(1_000_000_000n);
});

test.each([
  ['{', 'neither YAML nor JSON'],
  ['[]', 'must hold currency and rates'],
  ['', 'must hold currency and rates'],
  ['currency: EUR\nrates: []', 'currency must be USD'],
  ['currency: USD\nrates: 5', 'rates must be a list'],
  ['currency: USD\nrates: []\nmore: 1', 'beside currency and rates'],
  [file('5'), 'rates.0 must be a mapping'],
  [file('{ per_minute: 1 }'), 'rates.0 must have either prefix or country'],
  [file("{ prefix: '+44', country: GB, per_minute: 1 }"), 'either prefix or country'],
  [file("{ prefix: '+44', per_minute: 1, colour: red }"), 'rates.0 has a field'],
  [file('{ prefix: 44, per_minute: 1 }'), 'rates.0.prefix must be +'],
  [file('{ prefix: +44, per_minute: 1 }'), 'in quotes'],
  [file('{ country: gb, per_minute: 1 }'), 'rates.0.country must be a country'],
  [file('{ country: CA, per_minute: 1 }'), 'must not be US or CA'],
  [file('{ country: GB }'), 'rates.0.per_minute must be dollars'],
  [file('{ country: GB, per_minute: -1 }'), 'rates.0.per_minute'],
  [file("{ country: GB, per_minute: '0.0000001' }"), 'rates.0.per_minute'],
  [file('{ country: GB, per_minute: 1000.01 }'), 'rates.0.per_minute'],
  [file('{ country: GB, per_minute: true }'), 'rates.0.per_minute'],
  [file('{ country: GB, per_minute: 1, increments: 60 }'), 'rates.0.increments'],
  [file('{ country: GB, per_minute: 1, increments: 0/60 }'), 'rates.0.increments'],
  [file('{ country: GB, per_minute: 1, increments: 60/3601 }'), 'rates.0.increments'],
  [
    file('{ country: GB, per_minute: 1 }', '{ country: GB, per_minute: 2 }'),
    'rates.1: there is another rate for GB',
  ],
])('%j is refused: %s', (text, why) => {
  expect(() => readRates(text)).toThrow(RateProblem);
  expect(() => readRates(text)).toThrow(why);
});
