import type { GoalFile } from '@trunkcall/contract';
import { describe, expect, test } from 'vitest';
import { maxGoalFileBytes, parseGoalFile, type LocatedProblem } from '../../../src/authoring/goal-file.ts';
import { goalFile } from '../../kit/fixtures.ts';

const valid = `format: 1
title: Confirm a delivery
description: Asks one customer to confirm.
instructions: |
  You call {{name}} about {{parcels}} parcels.
voice: { region: US, name: default }
locale: en-US
targets: { countries: [US, CA] }
input_schema:
  type: object
  additionalProperties: false
  properties:
    name: { type: string }
    parcels: { type: integer, default: 1 }
  required: [name]
result_schema:
  type: object
  additionalProperties: false
  properties:
    window: { type: string, enum: [morning, evening] }
  required: [window]
agent: { kind: scripted }
limits: { ring_seconds: 30, call_seconds: 300 }
machine: hang_up
calling_window: { timezone: America/New_York, days: [mon, fri], from: "09:00", to: "24:00" }
callees:
  - { phone: "+12125550100", says: { window: [evening, yes] }, expect: { result: { window: evening } } }
`;

function problemsOf(text: string): readonly LocatedProblem[] {
  const parsed = parseGoalFile(text);
  return parsed.ok ? [] : parsed.problems;
}

/** The problems of the valid file after one change. */
function problemsAfter(from: string, to: string): readonly LocatedProblem[] {
  expect(valid).toContain(from);
  return problemsOf(valid.replace(from, to));
}

test('a valid YAML file becomes the Goal that it describes', () => {
  const parsed = parseGoalFile(valid);
  expect(parsed).toMatchObject({ ok: true, file: { title: 'Confirm a delivery', locale: 'en-US' } });
});

test('the same Goal in JSON becomes the same value, with the keys in the order of the file', () => {
  const json = JSON.stringify(goalFile(), null, '\t');
  const parsed = parseGoalFile(json);
  expect(parsed.ok && JSON.stringify(parsed.file)).toBe(JSON.stringify(goalFile()));
});

describe('what people read shows all that it holds', () => {
  const wrongIn = (over: Partial<GoalFile>) => problemsOf(JSON.stringify(goalFile(over)));
  const nowhere = ['\u0001', '\u000b', '\u001b', '\u007f', '\u0085', '\u202a', '\u202e', '\u2066', '\u2069'];
  const lineEnds = ['\n', '\t', '\r\n', '\u2028', '\u2029'];
  const everywhere = ['ß', '漢', '👩‍🚒', '\u00a0', '\u200f', 'e\u0301'];

  test.each([...nowhere, ...lineEnds])('a title holds no %j', (character) => {
    const code = character
      .codePointAt(character.length - 1)
      ?.toString(16)
      .toUpperCase()
      .padStart(4, '0');
    expect(wrongIn({ title: `A ${character} title` })).toMatchObject([
      { pointer: '/title', message: expect.stringMatching(`^must be one line .* it has U\\+${code}$`) },
    ]);
  });

  test.each([...nowhere, '\r'])('instructions hold no %j', (character) => {
    const message = expect.stringMatching(/^must have no control characters but line breaks and tabs/);
    expect(wrongIn({ instructions: `One.${character}Two.` })).toMatchObject([
      { pointer: '/instructions', message },
    ]);
  });

  test('line breaks and tabs stand in what has several lines, letters of any script everywhere', () => {
    const text = [...lineEnds, ...everywhere].join('x');
    expect(wrongIn({ title: everywhere.join('x'), description: text, instructions: text })).toEqual([]);
  });

  const sly = 'a\u202eb';
  const { result_schema } = goalFile();
  test.each<[string, Partial<GoalFile>]>([
    ['/description', { description: sly }],
    ['/voice/name', { voice: { region: 'US', name: sly } }],
    ['/agent/voice', { agent: { kind: 'realtime', voice: sly } }],
    ['/agent/transcribe_model', { agent: { kind: 'cascade', transcribe_model: sly } }],
    [
      '/result_schema/properties/confirmed/description',
      {
        result_schema: { ...result_schema, properties: { confirmed: { type: 'boolean', description: sly } } },
      },
    ],
    ['/inbound/message', { inbound: { outside_hours: 'message', message: sly } }],
    ['/transfer/0/name', { transfer: [{ name: sly, phone: '+12125550123' }] }],
    ['/transfer/0/when', { transfer: [{ name: 'Desk', phone: '+12125550123', when: sly }] }],
    ['/callees/0/name', { callees: [{ phone: '+12125550100', name: sly }] }],
  ])('%s does', (pointer, over) => {
    const problems = wrongIn(over);
    expect(problems.map((problem) => problem.pointer)).toContain(pointer);
    expect(JSON.stringify(problems)).not.toContain('\u202e');
  });
});

test('the kind of the agent selects which settings it takes', () => {
  const agent = (settings: string) => problemsAfter('agent: { kind: scripted }', `agent: ${settings}`);
  expect(
    agent(
      '{ kind: realtime, model: m, voice: v, vad: { kind: server_vad, threshold: 0.7, silence_ms: 400 } }',
    ),
  ).toEqual([]);
  expect(
    agent('{ kind: realtime, vad: { kind: semantic_vad, eagerness: low }, noise_reduction: off }'),
  ).toEqual([]);
  expect(agent('{ kind: oracle }')).toMatchObject([
    { pointer: '/agent/kind', message: expect.stringMatching(/^must be one of: scripted, realtime/) },
  ]);
  expect(agent('{ kind: scripted, model: m }')).toMatchObject([{ pointer: '/agent/model' }]);
  expect(agent('{ kind: realtime, vad: { kind: server_vad, threshold: 2 }, speed: 1 }')).toMatchObject([
    { pointer: '/agent/vad/threshold', message: 'must be at most 1' },
    { pointer: '/agent/speed' },
  ]);
});

test('every problem is reported at once, in the order of the text', () => {
  const text = valid
    .replace('format: 1', 'format: 2')
    .replace('title:', 'titel:')
    .replace('region: US', 'region: QQ')
    .replace('machine: hang_up', 'machine: shout');
  expect(problemsOf(text)).toMatchObject([
    { line: 1, column: 1, pointer: '/title' },
    { line: 1, column: 1, pointer: '/format', message: 'must be 1' },
    { line: 2, column: 1, pointer: '/titel' },
    { line: 6, column: 10, pointer: '/voice/region' },
    { line: 24, column: 1, pointer: '/machine', message: 'must be one of: hang_up, leave_message' },
  ]);
});

test('problems of a JSON file carry line and column too', () => {
  const json = JSON.stringify(goalFile({ locale: 'en-QQ' }), null, 2);
  const line = json.split('\n').findIndex((text) => text.includes('en-QQ')) + 1;
  expect(problemsOf(json)).toMatchObject([{ line, column: 3, pointer: '/locale' }]);
});

describe('what does not fit is named with what would be right', () => {
  test.each<[string, string, string, string, RegExp]>([
    [
      'an unknown policy on menus',
      'machine: hang_up',
      'machine: hang_up\nmenu: shout',
      '/menu',
      /must be one of: navigate, hang_up/,
    ],
    ['an unknown field', 'machine:', 'machinery:', '/machinery', /known here: format, title/],
    [
      'a text for a number',
      'ring_seconds: 30',
      'ring_seconds: "30"',
      '/limits/ring_seconds',
      /must be an integer/,
    ],
    [
      'a ring limit out of bounds',
      'ring_seconds: 30',
      'ring_seconds: 4',
      '/limits/ring_seconds',
      /at least 5/,
    ],
    [
      'a call limit out of bounds',
      'call_seconds: 300',
      'call_seconds: 3601',
      '/limits/call_seconds',
      /at most 3600/,
    ],
    [
      'an undeclared placeholder',
      '{{parcels}}',
      '{{boxes}}',
      '/instructions',
      /there are: \{\{name\}\}, \{\{parcels\}\}/,
    ],
    [
      'a placeholder with blanks',
      '{{parcels}}',
      '{{ parcels }}',
      '/instructions',
      /stands for no input variable/,
    ],
    [
      'an undeclared placeholder in what is asked',
      'enum: [morning, evening] }',
      "enum: [morning, evening], description: 'When suits {{who}}?' }",
      '/result_schema/properties/window/description',
      /\{\{who\}\} stands for no input variable/,
    ],
    ['a placeholder without its end', '{{parcels}}', '{{parcels', '/instructions', /without its partner/],
    ['a country that does not exist', '[US, CA]', '[US, ZZ]', '/targets/countries/1', /ISO 3166-1/],
    ['a country named twice', '[US, CA]', '[US, US]', '/targets/countries', /same item twice/],
    ['no country', '[US, CA]', '[]', '/targets/countries', /at least 1 item/],
    ['a locale that is not canonical', 'en-US', 'iw-IL', '/locale', /write he-IL/],
    ['a language that does not exist', 'en-US', 'qq', '/locale', /does not exist/],
    ['an unknown time zone', 'America/New_York', 'America/Gotham', '/calling_window/timezone', /IANA/],
    ['an offset for a time zone', 'America/New_York', '"+05:00"', '/calling_window/timezone', /IANA/],
    [
      'a message for closed hours without one',
      'machine: hang_up',
      'machine: hang_up\ninbound: { outside_hours: message }',
      '/inbound/message',
      /is missing/,
    ],
    [
      'a message that is never said',
      'machine: hang_up',
      'machine: hang_up\ninbound: { outside_hours: reject, message: Closed. }',
      '/inbound/message',
      /never said/,
    ],
    [
      'a message with an unknown placeholder',
      'machine: hang_up',
      'machine: hang_up\ninbound: { outside_hours: message, message: "Closed, {{nobody}}." }',
      '/inbound/message',
      /stands for no input variable/,
    ],
    ['a window that ends before it begins', 'to: "24:00"', 'to: "08:00"', '/calling_window/to', /later than/],
    [
      'a required name that is not declared',
      'required: [name]',
      'required: [nam]',
      '/input_schema/required/0',
      /declared are: name, parcels/,
    ],
    [
      'a name required twice',
      'required: [name]',
      'required: [name, name]',
      '/input_schema/required/1',
      /twice/,
    ],
    [
      'a nested property',
      '{ type: string }',
      '{ type: object }',
      '/input_schema/properties/name/type',
      /string, number, integer, boolean/,
    ],
    [
      'an unsupported keyword',
      '{ type: string }',
      '{ type: string, minLength: 3 }',
      '/input_schema/properties/name/minLength',
      /known here: type, description, enum, default/,
    ],
    [
      'a property name with a blank',
      'name: { type',
      '"na me": { type',
      '/input_schema/properties/na me',
      /letters, digits and _/,
    ],
    [
      'a default of the wrong type',
      'default: 1',
      'default: one',
      '/input_schema/properties/parcels/default',
      /type, integer/,
    ],
    [
      'a default with a fraction for an integer',
      'default: 1',
      'default: 1.5',
      '/input_schema/properties/parcels/default',
      /type, integer/,
    ],
    [
      'an enum value of the wrong type',
      '[morning, evening]',
      '[morning, 7]',
      '/result_schema/properties/window/enum/1',
      /type, string/,
    ],
    [
      'an enum value listed twice',
      '[morning, evening]',
      '[morning, morning]',
      '/result_schema/properties/window/enum/1',
      /twice/,
    ],
    [
      'a default in the result',
      'enum: [morning, evening]',
      'enum: [morning, evening], default: morning',
      '/result_schema/properties/window/default',
      /no defaults/,
    ],
    [
      'open schemas',
      'additionalProperties: false',
      'additionalProperties: true',
      '/input_schema/additionalProperties',
      /must be false/,
    ],
    [
      'words for a field that is not asked',
      'says: { window:',
      'says: { windows:',
      '/callees/0/says/windows',
      /declared are: window/,
    ],
    [
      'an expectation of the wrong type',
      'result: { window: evening }',
      'result: { window: 1 }',
      '/callees/0/expect/result/window',
      /type, string/,
    ],
    [
      'an expected error that does not exist',
      'result: { window: evening }',
      'error: bored',
      '/callees/0/expect/error',
      /no_answer/,
    ],
    [
      'variables that miss a required one',
      'says: {',
      'variables: {}, says: {',
      '/callees/0/variables/name',
      /missing/,
    ],
    [
      'a variable that is not declared',
      'says: {',
      'variables: { name: Ada, nam: Ada }, says: {',
      '/callees/0/variables/nam',
      /declared are: name/,
    ],
    [
      'a variable of the wrong type',
      'says: {',
      'variables: { name: 1 }, says: {',
      '/callees/0/variables/name',
      /type, string/,
    ],
    ['a number that is not E.164', '+12125550100', '12125550100', '/callees/0/phone', /must match/],
    [
      'somebody to connect with who has no number of any plan',
      'callees:',
      'transfer: [{ name: Desk, phone: "+12125550" }]\ncallees:',
      '/transfer/0/phone',
      /numbering plan/,
    ],
    [
      'somebody to connect with in another country',
      'callees:',
      'transfer: [{ name: Desk, phone: "+442079460123" }]\ncallees:',
      '/transfer/0/phone',
      /outside the countries in `targets`/,
    ],
    [
      'two of one name to connect with',
      'callees:',
      'transfer: [{ name: Desk, phone: "+12125550123" }, { name: desk, phone: "+12125550124" }]\ncallees:',
      '/transfer/1/name',
      /has this name already/,
    ],
    [
      'a placeholder in when to connect',
      'callees:',
      'transfer: [{ name: Desk, phone: "+12125550123", when: "{{name}} asks" }]\ncallees:',
      '/transfer/0/when',
      /takes no placeholders/,
    ],
    [
      'a name that nobody can say',
      'callees:',
      'transfer: [{ name: "<Desk>", phone: "+12125550123" }]\ncallees:',
      '/transfer/0/name',
      /letters, digits, spaces/,
    ],
  ])('%s', (_name, from, to, pointer, message) => {
    const problems = problemsAfter(from, to);
    expect(problems).toContainEqual(
      expect.objectContaining({ pointer, message: expect.stringMatching(message) }),
    );
  });

  test('a default outside its enum', () => {
    const problems = problemsAfter('name: { type: string }', 'name: { type: string, enum: [a], default: b }');
    expect(problems).toMatchObject([
      { pointer: '/input_schema/properties/name/default', message: 'must be one of the values in `enum`' },
    ]);
  });

  test('more than 100 properties, and a schema larger than 64 KiB', () => {
    const many = Array.from({ length: 101 }, (_, index) => `    p${index}: { type: string }`);
    const long = `    long: { type: string, enum: ["${'x'.repeat(70_000)}"] }`;
    const problems = problemsAfter(
      '    name: { type: string }',
      ['    name: { type: string }', ...many, long].join('\n'),
    );
    expect(problems.map(({ pointer }) => pointer)).toEqual(['/input_schema', '/input_schema/properties']);
  });

  test('a result together with an error, and a number that two callees have', () => {
    const callee = '  - { phone: "+12125550100", expect: { result: {}, error: no_answer } }\n';
    expect(problemsOf(valid + callee)).toMatchObject([
      { pointer: '/callees/1/phone' },
      { pointer: '/callees/1/expect' },
    ]);
  });
});

describe('the notation is read strictly', () => {
  test.each<[string, string, string, RegExp]>([
    [
      'a key that stands there twice',
      'machine: hang_up',
      'machine: hang_up\nmachine: hang_up',
      /second time/,
    ],
    ['an alias', 'title: Confirm a delivery', 'title: *other', /Unresolved alias|aliases/],
    [
      'an anchor with its alias',
      'title: Confirm a delivery\ndescription: Asks one customer to confirm.',
      'title: &t x\ndescription: *t',
      /aliases are not supported/,
    ],
    ['a tag', 'title: Confirm', 'title: !!str Confirm', /tags are not supported/],
    ['a custom tag', 'title: Confirm', 'title: !env Confirm', /tags are not supported/],
    ['a merge key', 'machine: hang_up', 'machine: hang_up\n<<: { title: x }', /unknown field/],
    ['a list as a key', 'machine: hang_up', 'machine: hang_up\n? [a]\n: 1', /keys must be strings/],
    ['an infinite number', 'default: 1 ', 'default: .inf ', /can not be kept exactly/],
    [
      'an integer that no double holds',
      'default: 1 ',
      'default: 9007199254740993 ',
      /can not be kept exactly/,
    ],
    ['U+0000', 'title: Confirm', String.raw`title: "a\0" #`, /can not be stored/],
    ['a lone surrogate', 'title: Confirm', String.raw`title: "\ud800" #`, /can not be stored/],
    ['__proto__', 'machine: hang_up', 'machine: hang_up\n__proto__: { a: 1 }', /can not be a key/],
    ['a second document', 'machine: hang_up', 'machine: hang_up\n---\na: 1', /multiple documents/],
  ])('%s is refused', (_name, from, to, message) => {
    expect(problemsAfter(from, to)).toContainEqual(
      expect.objectContaining({ message: expect.stringMatching(message) }),
    );
  });

  test('what could not be read is not reported again as missing or wrong', () => {
    expect(problemsAfter('title: Confirm', 'title: !env Confirm')).toHaveLength(1);
  });

  test('words that old YAML took for booleans stay words', () => {
    const parsed = parseGoalFile(valid.replaceAll('morning', 'no').replaceAll('evening', 'yes'));
    expect(parsed).toMatchObject({
      ok: true,
      file: { result_schema: { properties: { window: { enum: ['no', 'yes'] } } } },
    });
  });

  test('a fault of notation is reported with its line', () => {
    expect(problemsAfter('machine: hang_up', 'machine: [hang_up')).toContainEqual(
      expect.objectContaining({ line: 25, message: expect.stringMatching(/^not valid YAML or JSON/) }),
    );
  });
});

describe('no text does harm', () => {
  test.each([
    ['nothing', ''],
    ['a comment', '# nothing'],
    ['a list', '[]'],
    ['a word', 'hello'],
    ['null', 'null'],
    ['inherited names for fields', 'constructor: 1\ntoString: 2'],
  ])('%s is refused', (_name, text) => {
    expect(problemsOf(text)).not.toEqual([]);
  });

  test.each([
    ['lists in lists, in one line', '[ '.repeat(100_000)],
    ['lists in lists, as blocks', '- '.repeat(100_000)],
    ['mappings in mappings', '{a: '.repeat(60_000)],
  ])('%s end in one problem', (_name, text) => {
    expect(problemsOf(text)).toMatchObject([{ message: 'nested too deeply for a Goal file' }]);
  });

  test('moderate nesting is refused with its place', () => {
    expect(
      problemsAfter('title: Confirm a delivery', `title: ${'['.repeat(20)}${']'.repeat(20)}`),
    ).toContainEqual(expect.objectContaining({ line: 2, message: 'nested too deeply for a Goal file' }));
  });

  test('a file of more than 256 KiB is refused by its size', () => {
    expect(problemsOf(`# ${'é'.repeat(maxGoalFileBytes / 2)}\n${valid}`)).toMatchObject([
      { message: 'a Goal file has at most 262144 bytes' },
    ]);
  });

  test('a file with tens of thousands of wrong keys gives the first hundred problems', () => {
    const keys = Array.from({ length: 20_000 }, (_, index) => `k${index}: 1`);
    expect(problemsOf(keys.join('\n'))).toHaveLength(100);
  });
});
