import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { onlyLiteral, type TaskReading, type TaskRequest } from '../../../src/acceptance/task-reader.ts';
import { isAmong, literalDigits } from '../../../src/acceptance/task-reader/digits.ts';
import { localeIn } from '../../../src/acceptance/task-reader/locales.ts';
import { createRuleReader, readTask } from '../../../src/acceptance/task-reader/rule-reader.ts';

const speaks = (locale: string) => /^(en|es|de)-/.test(locale);
const request = (task: string, others: Partial<TaskRequest> = {}): TaskRequest => ({
  task,
  recipients: null,
  defaultRegion: 'US',
  defaultLocale: 'en-US',
  ...others,
});
const read = (task: string, others: Partial<TaskRequest> = {}) => readTask(request(task, others), speaks);
/** The numbers by recipient; none when the task is not ready. */
const phonesIn = (task: string, region = 'US') => {
  const reading = read(task, { defaultRegion: region });
  return reading.kind === 'ready' ? reading.recipients.map(({ phones }) => phones.join(' ')) : [];
};

describe('a number is taken', () => {
  it.each<[string, string, string]>([
    // As it is written at home.
    ['US', 'Call (415) 555-0132 and ask for Ana.', '+14155550132'],
    ['US', 'Call 415-555-0132.', '+14155550132'],
    ['US', 'Call 415.555.0132, please', '+14155550132'],
    ['US', 'Call 415 555 0132 now', '+14155550132'],
    ['US', 'Call 4155550132 and ask', '+14155550132'],
    ['US', 'Call 1-415-555-0132', '+14155550132'],
    ['US', 'Her phone number is 415-555-0132, ask about order 5512.', '+14155550132'],
    ['US', 'Phone no. 4155550132: confirm the delivery', '+14155550132'],
    ['US', 'Call the patient at 415-555-0132', '+14155550132'],
    ['US', 'Call about the order at 415-555-0132', '+14155550132'],
    ['CA', 'Ring the Toronto office on 416-555-0132', '+14165550132'],
    ['GB', 'Ring 020 7946 0958 before noon', '+442079460958'],
    ['GB', 'Mobile: 07911 123456', '+447911123456'],
    ['DE', 'Rufen Sie 030 901820 an', '+4930901820'],
    ['DE', 'Bitte 0176/12345678 anrufen', '+4917612345678'],
    ['FR', 'Appelez le 01 42 68 53 00 pour réserver', '+33142685300'],
    ['FR', 'Appelez le 01.42.68.53.00', '+33142685300'],
    ['ES', 'Llame al 612 34 56 78 y confirme', '+34612345678'],
    ['ES', 'Llama al 912345678', '+34912345678'],
    ['IT', "Chiama lo 06 6982 5678 e chiedi l'orario", '+390669825678'],
    ['PT', 'Ligue para 212 345 678', '+351212345678'],
    ['BR', 'Ligue para (11) 98765-4321 e confirme', '+5511987654321'],
    ['MX', 'Llame al 55 1234 5678', '+525512345678'],
    ['NL', 'Bel 020 624 1111', '+31206241111'],
    ['PL', 'Zadzwoń pod 22 123 45 67', '+48221234567'],
    ['DK', 'Ring til 32 12 34 56', '+4532123456'],
    ['JP', '電話は03-3210-9876です', '+81332109876'],
    ['JP', '０３−３２１０−９８７６に電話', '+81332109876'],
    ['KR', '02-2123-4567로 전화해 주세요', '+82221234567'],
    ['CN', '请拨打 138 1234 5678 确认预约', '+8613812345678'],
    ['IN', 'कृपया 098765 43210 पर फ़ोन करें', '+919876543210'],
    ['AU', 'Call 0412 345 678', '+61412345678'],
    ['ZA', 'Call 082 123 4567', '+27821234567'],
    ['RU', 'Позвоните 8 (912) 345-67-89', '+79123456789'],
    ['TR', '0532 123 45 67 numarayı ara', '+905321234567'],
    ['EG', 'اتصل على ٠١٠٠ ١٢٣ ٤٥٦٧', '+201001234567'],
    ['IL', 'להתקשר 02-123-4567', '+97221234567'],
    // International forms, wherever we are.
    ['DE', 'Call +1 415-555-0132', '+14155550132'],
    ['US', 'Call +44 20 7946 0958', '+442079460958'],
    ['US', 'Call +44 (0)20 7946 0958', '+442079460958'],
    ['US', 'Call 011 44 20 7946 0958', '+442079460958'],
    ['DE', 'Ruf 0044 20 7946 0958 an', '+442079460958'],
    ['US', '[Reception](tel:+14155550132)', '+14155550132'],
    ['US', 'Number:+14155550132.', '+14155550132'],
    ['US', 'Call +81 3-3210-9876 (front desk)', '+81332109876'],
    ['US', 'Call +55 11 98765-4321', '+5511987654321'],
    ['US', 'Call +33 1 42 68 53 00', '+33142685300'],
    ['US', 'Call me at +1 415 555 0132 and sing', '+14155550132'],
    ['US', 'Call +14155550132 about order 2125550198', '+14155550132'],
    ['US', 'Confirm the reservation (+34 612 34 56 78)', '+34612345678'],
    ['US', 'Can you call me at +14155550132?', '+14155550132'],
    ['US', 'I want you to call me at +14155550132', '+14155550132'],
  ])('in %s: %s', (region, task, phone) => {
    expect(phonesIn(task, region)).toEqual([phone]);
  });
});

describe('no number is taken', () => {
  it.each<[string, string]>([
    ['US', 'Ask about order 4155550132'],
    ['US', 'Ask about order number 415-555-0132'],
    ['US', 'Order #4155550132 is late, call them'],
    ['US', 'Call about invoice no. 2125550198'],
    ['US', 'Call the bank; the account is 2125550198'],
    ['US', 'Call Ana, tracking: 212 555 0198'],
    ['US', 'Call Ana. Her confirmation code is 212-555-0198'],
    ['US', 'Call the insurer about policy 2125550198'],
    ['US', 'Call them, customer number 2125550198'],
    ['US', 'Pay with card 4111 1111 1111 1111'],
    ['US', 'Call and charge card ending in 2125550198'],
    ['US', 'SSN 212-55-5019'],
    ['US', 'Call and offer $2125550198'],
    ['US', 'Call and offer USD 2125550198'],
    ['US', 'Call and offer 2125550198 dollars'],
    ['US', 'Call and order 2125550198 units'],
    ['US', 'The meeting is on 2026-11-21 at 10:30'],
    ['US', 'Call on 11/21/2026 between 10:30 and 11:45'],
    ['DE', 'Rufen Sie am 21.11.2026 um 10:30 an'],
    ['DE', 'Rufen Sie an wegen Bestellnummer 030 901820'],
    ['DE', 'Rufen Sie an, Kundennummer: 030 901820'],
    ['DE', 'Rufen Sie an wegen Auftrag 20394857'],
    ['DE', 'Rufen Sie Frau Weber an, 20394857'],
    ['JP', '注文番号は03-3210-9876です'],
    ['DK', 'Ring den 20261121'],
    ['ES', 'Pregunte por el pedido 612345678'],
    ['ES', 'Pregunte por la factura número 612 34 56 78'],
    ['FR', 'La commande 01 42 68 53 00 est en retard'],
    ['US', 'Call the server 212.55.50.198'],
    ['US', 'Meet at 40.7128, -74.0060'],
    ['US', 'Call 555-0132'],
    ['US', 'Call 911'],
    ['US', 'Call +1 000 000 0000'],
    ['US', 'Call 1-800-FLOWERS'],
    ['US', 'The lucky number of today: 42'],
    ['US', '2125550198'],
    ['US', 'Fax +1 415-555-0132'],
    ['US', 'Call the clinic and ask them to call me back at +1 415-555-0132'],
    ['US', 'Call the clinic. They can reach me at 415-555-0132'],
    ['US', 'Call the clinic and leave my number 415-555-0132'],
    ['US', 'Never call +1 415-555-0132'],
    ['US', 'Text the answer: sms +1 415-555-0132'],
    ['US', '+1 415-555-0132 (fax)'],
    ['ES', 'No llame al 612 34 56 78'],
    ['US', 'You are calling from +1 415-555-0132'],
    ['US', "Call Ana, but don't call her at 415-555-0132"],
    ['US', 'Call Ana and text me the answer'],
    ['US', ''],
  ])('in %s: %s', (region, task) => {
    const reading = read(task, { defaultRegion: region });
    expect(reading).toEqual({
      kind: 'not_ready',
      reasonCode: 'missing_phone',
      questions: ['Which phone number should be called?'],
    });
  });
});

describe('several numbers', () => {
  const a = '+14155550101';
  const b = '+14155550102';
  const c = '+34612345678';
  it.each<[string, string[]]>([
    [`Call Ana at ${a} and Bob at ${b}.`, [a, b]],
    [`Call Ana (${a}), Bob (${b}) and Eva (${c}).`, [a, b, c]],
    [`Call these:\n- Ana ${a}\n- Bob ${b}\n`, [a, b]],
    [`Call Ana at ${a} or ${b}.`, [`${a} ${b}`]],
    [`Call Ana at ${a} / ${b}, then Eva at ${c}.`, [`${a} ${b}`, c]],
    [`Call Ana at ${a}. If there is no answer, try her office at ${b}.`, [`${a} ${b}`]],
    [`Call Ana at ${a}. If she doesn't answer, call ${b}. Then call Eva at ${c}.`, [`${a} ${b}`, c]],
    [`Llame a Ana al ${a}; si no contesta, al ${b}.`, [`${a} ${b}`]],
    [`Rufen Sie ${a} an, sonst oder falls niemand antwortet ${b}.`, [`${a} ${b}`]],
    [`Call ${a}. Ana's number again: ${a}.`, [a]],
    [`Call Ana at ${a} and ask her to call me back at ${b}.`, [a]],
    [`Call Ana at ${a} instead of ${b}.`, [a]],
    // Dialling it would take a digit that is not there.
    [`Llame al ${a} y al +54 11 15 1234 5678.`, [a]],
    [`Call Ana at ${a}, don't mention the price, and Bob at ${b}.`, [a, b]],
    [`Call Ana at ${a}. If she is busy on Monday, offer Tuesday. Then call Bob at ${b}.`, [a, b]],
    [`Call Ana at ${a} and ask for anything else. Call Bob at ${b}.`, [a, b]],
  ])('%s', (task, phones) => {
    expect(phonesIn(task)).toEqual(phones);
  });

  it('a call goes to the language of its country when somebody speaks it, else to English', () => {
    expect(read('Call +34 612 34 56 78 and +33 1 42 68 53 00 and 415-555-0132')).toMatchObject({
      recipients: [
        { region: 'ES', locale: 'es-ES' },
        { region: 'FR', locale: 'en-FR' },
        { region: 'US', locale: 'en-US' },
      ],
    });
    expect(read('Call 415-555-0132', { defaultLocale: 'es-US' })).toMatchObject({
      recipients: [{ region: 'US', locale: 'es-US' }],
    });
    expect(localeIn('AQ', () => true)).toBe('en-AQ');
    expect(localeIn('toString', () => true)).toBe('en-toString');
  });

  it('more than five for one recipient, or more than a hundred recipients, are asked about', () => {
    const phone = (index: number) => `+1415555${String(100 + index).padStart(4, '0')}`;
    const list = (count: number, glue: string) =>
      Array.from({ length: count }, (_, i) => phone(i)).join(glue);
    expect(phonesIn(`Call ${list(5, ' or ')}`)).toHaveLength(1);
    expect(read(`Call ${list(6, ' or ')}`)).toMatchObject({ reasonCode: 'too_many_phones' });
    expect(phonesIn(`Call ${list(100, ', ')}`)).toHaveLength(100);
    expect(read(`Call ${list(101, ', ')}`)).toMatchObject({ reasonCode: 'too_many_phones' });
  });

  it('an extension is asked about', () => {
    for (const number of ['415-555-0132 ext. 12', '+14155550132 x12', 'tel:+442079460958;ext=3']) {
      expect(read(`Call ${number} and ask`)).toMatchObject({
        kind: 'not_ready',
        reasonCode: 'extension_not_supported',
        questions: [expect.stringContaining('extension')],
      });
    }
  });
});

describe('a place that was left open', () => {
  const phone = '+14155550132';
  it.each<[string, string]>([
    ['{{name}}', 'What is the name?'],
    ['{{ customer_name }}', 'What is the customer name?'],
    ['{{}}', 'What should stand in place of {{}}?'],
    ['{first_name}', 'What is the first name?'],
    ['${date}', 'What is the date?'],
    ['[customer name]', 'What is the customer name?'],
    ['[DATE]', 'What is the DATE?'],
    ['<date>', 'What is the date?'],
    ['<order-number>', 'What is the order number?'],
    ['TODO', 'What should stand in place of TODO?'],
    ['TBD', 'What should stand in place of TBD?'],
    ['XXX', 'What should stand in place of XXX?'],
    ['____', 'What should stand in place of ____?'],
  ])('%s is asked about', (open, question) => {
    expect(read(`Call ${phone} and tell them: ${open} is what counts.`)).toEqual({
      kind: 'not_ready',
      reasonCode: 'missing_information',
      questions: [question],
    });
  });

  it.each([
    'see [the page](https://example.com)',
    'he said [sic] so',
    '[IMPORTANT] be polite',
    'be <b>polite</b>',
    'follow <rules>be polite</rules>',
    'ask if a < b and b > c',
    'CONFIRME TODO EL PEDIDO',
    'list[0] is first',
    'say "{}" and {"a": 1}',
    'rule 1_000 and snake_case',
    'mail <ana@example.com>',
    '\n[Background]\nShe is late',
  ])('%s is none', (text) => {
    expect(read(`Call ${phone} and ${text}`)).toMatchObject({ kind: 'ready' });
  });

  it('is asked about once, in order, together with a number that is missing', () => {
    expect(read('Tell {{name}} about <date>, {{name}}!')).toMatchObject({
      questions: ['Which phone number should be called?', 'What is the name?', 'What is the date?'],
    });
    expect(read('Call [phone number]')).toMatchObject({ questions: ['What is the phone number?'] });
  });
});

describe('a title', () => {
  it.each<[string, string]>([
    ['Call Maria at +1 415-555-0132 and confirm her appointment. Be polite.', 'confirm her appointment'],
    ['Please call Dr. Smith at 415.555.0132 to ask for a visit at noon!', 'ask for a visit at noon'],
    ['Confirm the table for Ana (+14155550132)', 'Confirm the table for Ana'],
    ['Call +14155550132.', 'a short request'],
    ['+14155550132', 'a short request'],
    ['Llame a Eva al +34 612 34 56 78 y confirme la reserva.', 'confirme la reserva'],
  ])('%s', (task, title) => {
    const reading = read(task);
    expect(reading.kind === 'ready' && reading.title).toBe(title);
  });

  it('has no phone number and at most 200 characters', () => {
    const reading = read(`Call +14155550132 and say ${'so '.repeat(200)} to (415) 555-0133`);
    const title = reading.kind === 'ready' ? reading.title : '';
    expect(title.length).toBeGreaterThan(100);
    expect(title.length).toBeLessThanOrEqual(200);
    expect(title).not.toMatch(/555/);
  });
});

describe('explicit recipients', () => {
  const sent = (phones: string[], region: string | null = null, locale: string | null = null) => ({
    phones,
    region,
    locale,
  });

  it('are taken as they are, and the numbers of the task are not looked for', () => {
    const recipients = [sent(['+34612345678', '+14155550132']), sent(['+14155550132'], 'MX', 'pt-BR')];
    expect(read('Call 415-555-0199', { recipients })).toEqual({
      kind: 'ready',
      recipients: [
        { phones: ['+34612345678', '+14155550132'], region: 'ES', locale: 'es-ES' },
        { phones: ['+14155550132'], region: 'MX', locale: 'pt-BR' },
      ],
      title: 'a short request',
    });
    expect(read('Ask', { recipients: [sent(['+14155550132'], 'MX')] })).toMatchObject({
      recipients: [{ region: 'MX', locale: 'es-MX' }],
    });
  });

  it('do not fill the places that a task left open', () => {
    const recipients = [sent(['+14155550132'])];
    expect(read('Ask {{name}}', { recipients })).toMatchObject({ reasonCode: 'missing_information' });
  });
});

describe('a number that is not literally in the task', () => {
  it.each<[string, string, boolean]>([
    ['Call 415-555-0132', '+14155550132', true],
    ['Call 1 (415) 555 0132', '+14155550132', true],
    ['Call 020 7946 0958', '+442079460958', true],
    ['Call +44 (0)20 7946 0958', '+442079460958', true],
    ['Call +44 20 7946 0958', '+12079460958', false],
    ['Call 415-555-0132', '+14155550133', false],
    ['Call 0044 20 7946 0958', '+12079460958', false],
    ['Call +14155550101 / 415 555 0132', '+14155550132', true],
    ['415\n555 0132', '+14155550132', false],
    ['Call 555-0132', '+14155550132', false],
    ['Card 94155550132', '+14155550132', false],
    ['Card 41555501329', '+14155550132', false],
    ['415 apples, 555 pears, 0132 plums', '+14155550132', false],
    ['٠١٠٠ ١٢٣ ٤٥٦٧', '+201001234567', true],
    ['no digits', '+14155550132', false],
    ['415-555-0132', 'nonsense', false],
  ])('%s: %s', (task, phone, literal) => {
    expect(isAmong(literalDigits(task), phone)).toBe(literal);
  });

  it('is never called, whoever read it', () => {
    const ready = (phone: string): TaskReading => ({
      kind: 'ready',
      recipients: [{ phones: [phone], region: 'US', locale: 'en-US' }],
      title: 'x',
    });
    const asked = request('Call 415-555-0132');
    expect(onlyLiteral(asked, ready('+14155550132'))).toEqual(ready('+14155550132'));
    expect(onlyLiteral(asked, ready('+14155550133'))).toMatchObject({ reasonCode: 'missing_phone' });
    expect(onlyLiteral(asked, { ...ready(''), recipients: [] } as TaskReading)).toMatchObject({
      reasonCode: 'missing_phone',
    });
    const explicit = { ...asked, recipients: [{ phones: ['+34612345678'], region: null, locale: null }] };
    expect(onlyLiteral(explicit, ready('+34612345678'))).toMatchObject({ kind: 'ready' });
    expect(onlyLiteral(explicit, ready('+14155550132'))).toMatchObject({ reasonCode: 'missing_phone' });
  });
});

const words = [
  'Call ',
  'order ',
  'or ',
  'and ',
  '. ',
  ', ',
  '#',
  '$',
  '+',
  '(',
  ')',
  '-',
  '/',
  ' ',
  '\n',
  'ext ',
];
const digits = ['415', '555', '0132', '14155550132', '20 7946 0958', '44', '0', '00', '٤', '９', '{{', '}}'];
const numbers = ['+1 415 555 0132', 'Call 415-555-0133 ', '+34612345678', '030 901820', '612 34 56 78'];
const pieces = fc.constantFrom(...words, ...digits, ...numbers);

describe('for any task', () => {
  it('every number read is literally in it', async () => {
    const reader = createRuleReader({ speaks });
    let ready = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof({ weight: 9, arbitrary: pieces }, fc.string({ unit: 'grapheme' })), {
          maxLength: 30,
        }),
        fc.constantFrom('US', 'GB', 'ES', 'DE', 'AR', 'ZZ'),
        async (words, defaultRegion) => {
          const task = words.join('');
          const reading = await reader.read(request(task, { defaultRegion }), new AbortController().signal);
          if (reading.kind !== 'ready') return;
          ready += 1;
          for (const phone of reading.recipients.flatMap(({ phones }) => phones)) {
            expect(isAmong(literalDigits(task), phone)).toBe(true);
          }
          expect(reading.title.length).toBeLessThanOrEqual(200);
        },
      ),
      { numRuns: 1_000, seed: 3 },
    );
    expect(ready).toBeGreaterThan(20);
  });

  it('reading takes no longer than its length deserves', () => {
    const started = performance.now();
    for (const word of [
      'order number is ',
      'at the number ',
      'call me ',
      'not ',
      '415 555 ',
      '[a ',
      '<a ',
      '{',
      '_',
      '. ',
    ]) {
      read(word.repeat(32_000 / word.length));
      read(`${word.repeat(2_000)}+14155550132 ${word.repeat(2_000)}`);
    }
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
