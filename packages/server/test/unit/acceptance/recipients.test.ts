import { describe, expect, it } from 'vitest';
import { readRecipients } from '../../../src/acceptance/task-reader/recipients.ts';

const problemsOf = (value: unknown) => {
  const reading = readRecipients(value);
  return reading.ok ? [] : reading.problems;
};
const phone = '+14155550132';

describe('recipients', () => {
  it('are read with what was sent; null means left out', () => {
    expect(readRecipients([{ phones: [phone, '+34612345678'] }])).toEqual({
      ok: true,
      recipients: [{ phones: [phone, '+34612345678'], region: null, locale: null }],
    });
    expect(readRecipients([{ phones: [phone], region: null, locale: null }])).toEqual({
      ok: true,
      recipients: [{ phones: [phone], region: null, locale: null }],
    });
    expect(readRecipients([{ phones: [phone], region: 'MX', locale: 'zh-hans-cn' }])).toEqual({
      ok: true,
      recipients: [{ phones: [phone], region: 'MX', locale: 'zh-Hans-CN' }],
    });
  });

  const invalidPhone = 'invalid_phone';
  const invalidRequest = 'invalid_request';
  it.each<[string, unknown, string, string]>([
    ['no list', {}, invalidRequest, 'recipients'],
    ['an empty list', [], invalidRequest, 'recipients'],
    ['101 of them', Array.from({ length: 101 }, () => ({ phones: [phone] })), invalidRequest, 'recipients'],
    ['a bare number', [phone], invalidRequest, 'recipients[0]'],
    ['null', [null], invalidRequest, 'recipients[0]'],
    ['no phones', [{}], invalidRequest, 'recipients[0].phones'],
    ['an empty list of phones', [{ phones: [] }], invalidRequest, 'recipients[0].phones'],
    [
      'six phones',
      [{ phones: Array.from({ length: 6 }, () => phone) }],
      invalidRequest,
      'recipients[0].phones',
    ],
    ['a phone that is a number', [{ phones: [14155550132] }], invalidRequest, 'recipients[0].phones[0]'],
    [
      'a phone with spaces',
      [{ phones: [phone, '+1 415 555 0199'] }],
      invalidPhone,
      'recipients[0].phones[1]',
    ],
    ['a phone of no plan', [{ phones: ['+10000000000'] }], invalidPhone, 'recipients[0].phones[0]'],
    ['a phone twice', [{ phones: [phone, phone] }], invalidRequest, 'recipients[0].phones[1]'],
    ['an unknown field', [{ phones: [phone], name: 'Ana' }], invalidRequest, 'recipients[0]'],
    ['a region that is none', [{ phones: [phone], region: 'XX' }], invalidRequest, 'recipients[0].region'],
    [
      'a region in small letters',
      [{ phones: [phone], region: 'us' }],
      invalidRequest,
      'recipients[0].region',
    ],
    [
      'a locale that is none',
      [{ phones: [phone], locale: 'english' }],
      invalidRequest,
      'recipients[0].locale',
    ],
    [
      'a locale of no language',
      [{ phones: [phone], locale: 'qq-US' }],
      invalidRequest,
      'recipients[0].locale',
    ],
    ['a locale that is no text', [{ phones: [phone], locale: 1 }], invalidRequest, 'recipients[0].locale'],
  ])('with %s are refused by place', (_, value, code, field) => {
    expect(problemsOf(value)).toEqual([{ code, field, problem: expect.any(String) as string }]);
  });

  it('have at most twenty problems reported, never with a value', () => {
    const problems = problemsOf(
      Array.from({ length: 50 }, () => ({
        phones: ['+1 415 555 0199'],
        '+14155550199': 1,
        locale: 'secret!',
      })),
    );
    expect(problems).toHaveLength(20);
    expect(JSON.stringify(problems)).not.toMatch(/0199|secret/);
  });
});
