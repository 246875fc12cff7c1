import type { CallScalar, Scalar } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import type { SpokenTurn } from '../../../../src/agents/agent.ts';
import type { PlacedClaim } from '../../../../src/result/model/evidence.ts';
import { literalQuote, numbersWereSaid, supportOf, usable } from '../../../../src/result/model/support.ts';

describe('a quote', () => {
  it.each([
    ['Yes, that’s fine.', "yes, that's fine", 'Yes, that’s fine'],
    ['He said “no”.', 'said "no"', 'said “no”'],
    ['at  ten\no’clock', "at ten o'clock", 'at  ten\no’clock'],
    ['Straße 5', 'STRASSE 5'.replace('SS', 'ß'), 'Straße 5'],
    ['それは火曜日です', '火曜日', '火曜日'],
    ['C++ (the language)', 'c++ (the language)', 'C++ (the language)'],
  ])('is found as it was said: %s', (text, quote, literal) => {
    expect(literalQuote(text, quote)).toBe(literal);
  });

  it.each([
    ['Yes, fine.', 'Yes, sure'],
    ['Yes, fine.', ''],
    ['Yes, fine.', '  '],
    ['I agreed.', 'agree'],
    ['I disagree.', 'agree'],
    ['Yes.', '.*'],
    ['15 people', '5 people'],
  ])('is not found when nobody said it: %s – %s', (text, quote) => {
    expect(literalQuote(text, quote)).toBeNull();
  });
});

describe('a number', () => {
  it.each<[Scalar, string]>([
    [45, 'It is 45 euros'],
    [45, 'It is $45.00.'],
    [1_234.5, 'That makes 1,234.50'],
    [1_500, 'Das sind 1.500 Euro'],
    [1.5, 'anderthalb, also 1,5 Liter'],
    [250, 'two hundred and fifty'],
    [35, 'treinta y cinco'],
    [5_000, 'about 5k'],
    [1_500_000, '1.5 million'],
    [2_000_000, '2 Mio. Euro'],
    [0.2, '20 %'],
    [2, 'zwei Personen'],
    [0, 'keine'],
    [-40, 'minus 40 degrees'],
    ['2025550101', 'It is 202 555, 0101.'],
    ['A-1042', 'A ten forty two'],
    ['on 2027-03-05 at 14:30', 'next Friday at half past two'],
    ['in 2028', 'the year after next'],
    [true, 'yes'],
  ])('was said: %s – %s', (value, text) => {
    expect(numbersWereSaid(value, [text])).toBe(true);
  });

  it.each<[Scalar, string]>([
    [50_000, 'Give me the maximum'],
    [45, 'It is 450 euros'],
    [5_000, 'It is 500 times ten'],
    [99, 'neunzehn'],
    ['900 euros', 'nine euros'],
    [1_000_000, 'one moment'],
  ])('was not said: %s – %s', (value, text) => {
    expect(numbersWereSaid(value, [text])).toBe(false);
  });
});

const turn = (speaker: SpokenTurn['speaker'], text: string): SpokenTurn => ({
  speaker,
  text,
  offsetMs: 0,
  interrupted: false,
  notes: [],
});
const turns = [
  turn('bot', 'Is 450 euros all right?'),
  turn('user', 'Yes, that is all right.'),
  turn('bot', 'And when shall we come?'),
  turn('user', 'I work days, so an evening is better.'),
];
function supported(
  value: Scalar,
  cited: number[],
  quote: string,
  over: Partial<CallScalar> & { confidence?: number } = {},
) {
  const { confidence = 0.9, ...property } = over;
  const type = typeof value === 'string' ? 'string' : typeof value === 'number' ? 'number' : 'boolean';
  const placed: PlacedClaim = {
    tokens: ['field'],
    pointer: '/field',
    claim: { value, turns: cited, quote, confidence },
    node: { type, ...property },
  };
  return supportOf(placed, turns);
}

describe('a claim', () => {
  it('is supported by a quote of the callee, with the turns that are the callee’s', () => {
    expect(supported(true, [0, 1], 'yes, that is all right')).toEqual({
      ok: true,
      evidence: { value: true, turns: [1], quote: 'Yes, that is all right', confidence: 0.9 },
    });
  });

  it('may take a number from our question when the callee agrees to it', () => {
    expect(supported(450, [1], 'Yes').ok).toBe(true);
    expect(supported(450, [3], 'better').ok).toBe(false);
  });

  it('is refused with our words, with turns that are not there, without turns, and when it is a guess', () => {
    for (const support of [
      supported(true, [0], 'all right'),
      supported(true, [1], '450 euros'),
      supported(true, [7], 'Yes'),
      supported(true, [3], 'Yes'),
      supported(true, [], 'Yes'),
      supported(true, [1], 'Yes', { confidence: 0.1 }),
    ]) {
      expect(support.ok).toBe(false);
      expect(usable(support)).toBeNull();
    }
  });

  it('in free text may be in other words, as long as it is made of what was said', () => {
    expect(supported('prefers evenings', [3], 'an evening is better').ok).toBe(true);
    expect(supported('evenings', [3], 'evening').ok).toBe(true);
    for (const invented of [
      'approved by the manager',
      `evening ${'and so on '.repeat(20)}`,
      'evening, for 900 euros',
    ]) {
      const support = supported(invented, [3], 'an evening is better');
      expect(support.ok).toBe(false);
      expect(usable(support)).toMatchObject({ value: 'an evening is better' });
    }
  });

  it('of an enum needs no words of its own', () => {
    expect(supported('accepted', [1], 'that is all right', { enum: ['accepted', 'declined'] }).ok).toBe(true);
  });
});
