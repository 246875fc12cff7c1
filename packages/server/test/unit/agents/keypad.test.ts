import * as fc from 'fast-check';
import type { ResultSchema, ScalarProperty } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import type { Note } from '../../../src/agents/agent.ts';
import type { Script } from '../../../src/agents/scripted/dialogue.ts';
import {
  afterHearing,
  beginKeypad,
  keypadPatienceMs,
  maxKeysNow,
  nextKeypadStep,
  type KeypadDialogue,
  type KeypadEvent,
} from '../../../src/agents/scripted/keypad.ts';
import { localeFor } from '../../../src/agents/scripted/locales/locale.ts';
import { createScriptedAgent } from '../../../src/agents/scripted/scripted-agent.ts';
import { parseIsoDay } from '../../../src/agents/scripted/understanding/dates.ts';
import { deliverySchema, testClock } from '../../conformance/hold-call.ts';

function scriptFor(
  resultSchema: ResultSchema,
  language = 'en',
  machine: Script['machine'] = 'hang_up',
): Script {
  const locale = localeFor(language);
  if (locale === null) throw new Error('no such locale');
  return {
    locale,
    grammar: locale.grammar,
    today: parseIsoDay('2026-11-21') ?? 0,
    region: null,
    direction: 'outbound',
    callerName: 'Parcel Post',
    title: 'Your parcel',
    machine,
    menu: 'navigate',
    fields: Object.entries(resultSchema.properties).map(([name, property]) => ({
      name,
      property,
      required: resultSchema.required.includes(name),
      about: property.description ?? name,
    })),
  };
}

/** A script with one required field. */
function asking(property: ScalarProperty, { required = true, language = 'en' } = {}): Script {
  const properties = { it: { description: 'What is it?', ...property } };
  return scriptFor(
    { type: 'object', additionalProperties: false, properties, required: required ? ['it'] : [] },
    language,
  );
}

/** Keys, `voice MS`, `silence` or `beep`. */
function eventOf(line: string, late = false): KeypadEvent {
  if (line === 'silence') return { kind: 'silence', late };
  if (line === 'beep') return { kind: 'beep' };
  const [, ms] = /^voice (\d+)$/.exec(line) ?? [];
  return ms === undefined
    ? { kind: 'keys', digits: line, late }
    : { kind: 'voice', lastedMs: Number(ms), late };
}

/** Runs the pure machine on what comes; every sentence of ours is heard to its end. */
function play(script: Script, ...lines: string[]) {
  let dialogue: KeypadDialogue = beginKeypad;
  const said: string[] = [];
  const notes: (Note | null)[] = [];
  const written: string[] = [];
  for (const line of lines) {
    const step = nextKeypadStep(script, dialogue, eventOf(line));
    said.push(step.say.join(' '));
    notes.push(step.note);
    written.push(step.written);
    dialogue = afterHearing(script, step.dialogue, said.at(-1) ?? '');
  }
  return { dialogue, said, notes, written, last: said.at(-1) ?? '', note: notes.at(-1) ?? null };
}

const delivery = scriptFor(deliverySchema);

describe('the opening', () => {
  it('says who calls, what for, how to answer and how to be left alone, and then asks', () => {
    const { said } = play(delivery, 'silence');
    expect(said[0]).toBe(
      'Hello, this is an automated assistant calling for Parcel Post. It is about: Your parcel. ' +
        'Please answer with the keys of your telephone. To hear a question again, press star. ' +
        'If you never want to be called again, press 9 at any time. ' +
        'Will somebody be at home to accept the delivery? For yes, press 1. For no, press 2.',
    );
  });

  it('comes after a greeting, and in Spanish', () => {
    expect(play(delivery, 'voice 800').last).toContain('automated assistant');
    expect(play(scriptFor(deliverySchema, 'es'), 'voice 800').last).toMatch(
      /asistente automático.*asterisco.*pulse 9 en cualquier momento.*Para sí, pulse 1\. Para no, pulse 2\.$/,
    );
  });

  it('is said again, whole, to whoever cut it short, and what they pressed answers nothing', () => {
    const cut = nextKeypadStep(delivery, beginKeypad, eventOf('silence'));
    const dialogue = afterHearing(
      delivery,
      cut.dialogue,
      'Hello, this is an automated assistant calling for Parcel Post.',
    );
    expect(dialogue).toMatchObject({ disclosed: true, told: false });
    for (const line of ['1', '9', '*', 'voice 900']) {
      const step = nextKeypadStep(delivery, dialogue, eventOf(line));
      expect(step.say.join(' ')).toBe(cut.say.join(' '));
      expect(step.note).toBeNull();
    }
  });
});

describe('each kind of field', () => {
  const choice: ScalarProperty = { type: 'string', enum: ['red', 'dark_green', 'unknown'] };
  const cases: [string, Script, string, string, string | number | boolean | null, string][] = [
    ['a boolean', asking({ type: 'boolean' }), 'For yes, press 1. For no, press 2.', '2', false, '[2] no'],
    [
      'a choice',
      asking(choice),
      'For red, press 1. For dark green, press 2.',
      '2',
      'dark_green',
      '[2] dark green',
    ],
    [
      'yes and no',
      asking({ type: 'string', enum: ['yes', 'no'] }),
      'For no, press 2.',
      '1',
      'yes',
      '[1] yes',
    ],
    ['a choice of digits', asking({ type: 'integer', enum: [2, 4, 5] }), 'For 4, press 4.', '4', 4, '[4] 4'],
    [
      'a choice of other numbers',
      asking({ type: 'integer', enum: [0, 1] }),
      'For 1, press 2.',
      '2',
      1,
      '[2] 1',
    ],
    ['an integer', asking({ type: 'integer' }), 'Enter the number, then press', '12#', 12, '[12#] 12'],
    ['an integer without #', asking({ type: 'integer' }), 'Enter the number', '12', 12, '[12] 12'],
    ['no integer', asking({ type: 'integer' }), 'Enter the number', '1*5#', null, '[1*5#]'],
    ['a number', asking({ type: 'number' }), 'star for the decimal point', '1*50#', 1.5, '[1*50#] 1.5'],
    [
      'too many digits',
      asking({ type: 'number' }),
      'decimal point',
      '1234567890123456',
      null,
      '[1234567890123456]',
    ],
    ['one of many numbers', asking({ type: 'integer', enum: upTo(12) }), 'Enter', '11#', 11, '[11#] 11'],
    ['none of many numbers', asking({ type: 'integer', enum: upTo(12) }), 'Enter', '13#', null, '[13#]'],
    ['a day', asking(dayField), 'The third of May is 0 5 0 3.', '0503', '2027-05-03', '[0503] Monday, May 3'],
    ['today', asking(dayField), 'month and the day', '1121#', '2026-11-21', '[1121#] Saturday, November 21'],
    ['no day', asking(dayField), 'month and the day', '1331', null, '[1331]'],
    [
      'a day in Spanish',
      asking({ ...dayField, description: '¿Qué día?' }, { language: 'es' }),
      'El tres de mayo es 0 3 0 5.',
      '0305',
      '2027-05-03',
      '[0305] lunes, 3 de mayo',
    ],
    ['a key that was not offered', asking(choice), 'For red', '7', null, '[7]'],
    ['0 that was not offered', asking({ type: 'boolean' }), 'For yes', '0', null, '[0]'],
  ];

  it.each(cases)('%s', (_, script, offer, keys, value, text) => {
    const { said, note, written } = play(script, 'silence', keys);
    expect(said[0]).toContain(offer);
    expect(said[0]).not.toContain('unknown');
    expect(written[1]).toBe(text);
    expect(note).toEqual(
      value === null
        ? { kind: 'not_understood', field: 'it' }
        : { kind: 'answer', field: 'it', value, quote: text },
    );
  });

  it('offers no more than eight keys, and never 9', () => {
    const eight = asking({ type: 'string', enum: 'a b c d e f g h'.split(' ') });
    expect(play(eight, 'silence').last).toContain('For h, press 8.');
    const nine = asking({ type: 'string', enum: 'a b c d e f g h i'.split(' ') });
    expect(play(nine, 'silence').last).not.toMatch(/press 1/);
    expect(play(asking({ type: 'integer', enum: [1, 9] }), 'silence').last).toContain('For 9, press 2.');
  });

  it('can be left out where the schema allows it', () => {
    for (const [script, key, offer] of [
      [asking({ type: 'boolean' }, { required: false }), '0', 'press 0'],
      [asking(choice), '0', 'press 0'],
      [asking({ type: 'integer' }, { required: false }), '#', 'press only the pound'],
      [asking(dayField, { required: false }), '#', 'press only the pound'],
    ] as const) {
      const { said, note, dialogue } = play(script, 'silence', key);
      expect(said[0]).toContain(offer);
      expect(note).toEqual({ kind: 'not_understood', field: 'it' });
      expect(dialogue).toMatchObject({ end: { kind: 'finished' } });
    }
  });

  it('that needs words is passed over', () => {
    const { said, dialogue } = play(delivery, 'silence', '1', '3', '1124', '1');
    expect(said.join(' ')).not.toContain('driver');
    expect(dialogue).toMatchObject({ end: { kind: 'finished' } });
    const { last, note } = play(asking({ type: 'string' }), 'silence');
    expect(last).toMatch(/Thank you very much\. Goodbye\.$/);
    expect(note).toBeNull();
  });

  it('says how many keys may come', () => {
    const keysFor = (script: Script) => maxKeysNow(script, play(script, 'silence').dialogue);
    expect([asking({ type: 'boolean' }), asking(dayField), asking({ type: 'number' })].map(keysFor)).toEqual([
      1, 4, 17,
    ]);
    expect(maxKeysNow(delivery, beginKeypad)).toBe(1);
  });
});

const dayField: ScalarProperty = { type: 'string', description: 'Which day?' };

function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}

describe('a key', () => {
  it('counts as soon as its option was heard, not before, and needs not be heard twice', () => {
    const script = asking({ type: 'string', enum: ['red', 'green', 'blue'] });
    const asked = nextKeypadStep(script, beginKeypad, eventOf('silence'));
    const full = asked.say.join(' ');
    const heardTo = (words: string) => full.slice(0, full.indexOf(words) + words.length);
    const cut = afterHearing(script, asked.dialogue, heardTo('For green, press'));
    expect(nextKeypadStep(script, cut, eventOf('1')).note).toMatchObject({ value: 'red' });
    expect(nextKeypadStep(script, cut, eventOf('2')).note).toMatchObject({ value: 'green' });
    const early = nextKeypadStep(script, cut, eventOf('3'));
    expect(early).toMatchObject({ note: null, written: '[3]' });
    expect(early.say.join(' ')).toContain('For blue, press 3.');
    const stray = nextKeypadStep(script, cut, eventOf('#'));
    expect(stray).toMatchObject({ note: null, written: '[#]', dialogue: { tries: 0 } });
    const interruptedAgain = afterHearing(script, early.dialogue, 'What is');
    expect(nextKeypadStep(script, interruptedAgain, eventOf('2')).note).toMatchObject({ value: 'green' });
  });

  it('of an entry counts when enough of the question was heard', () => {
    const script = asking({ type: 'integer' });
    const asked = nextKeypadStep(script, beginKeypad, eventOf('silence'));
    const unheard = afterHearing(script, asked.dialogue, asked.say.slice(0, -1).join(' '));
    expect(nextKeypadStep(script, unheard, eventOf('12#'))).toMatchObject({ note: null });
    const heard = afterHearing(script, unheard, 'What is it? Enter the number, then');
    expect(nextKeypadStep(script, heard, eventOf('12#')).note).toMatchObject({ value: 12 });
  });

  it('of another question answers nothing', () => {
    const two = scriptFor({
      ...deliverySchema,
      properties: { first: { type: 'boolean' }, second: { type: 'boolean' } },
    });
    const asked = nextKeypadStep(two, play(two, 'silence').dialogue, eventOf('1'));
    const cut = afterHearing(two, asked.dialogue, 'Please tell me: second.');
    expect(nextKeypadStep(two, cut, eventOf('1'))).toMatchObject({ note: null });
    const heard = afterHearing(two, asked.dialogue, asked.say.join(' '));
    expect(nextKeypadStep(two, heard, eventOf('1'))).toMatchObject({ note: { field: 'second' } });
  });

  it('star repeats the question as it is', () => {
    const { said, notes } = play(delivery, 'silence', '1', '*');
    expect(said[2]).toBe(said[1]);
    expect(notes[2]).toBeNull();
  });
});

describe('9', () => {
  it('ends our calls, in every phase after it was said so', () => {
    for (const before of [
      ['silence'],
      ['silence', '1'],
      ['silence', '1', '3'],
      ['silence', '1', '3', '1124'],
    ]) {
      const { dialogue, note, last, written } = play(delivery, ...before, '9');
      expect(dialogue.end).toEqual({ kind: 'opted_out' });
      expect(note).toEqual({ kind: 'opted_out' });
      expect(written.at(-1)).toBe('[9]');
      expect(last).toBe('I am sorry. We will not call you again. Goodbye.');
    }
    expect(play(delivery, 'silence', '1', '3', '1124', '1', '9').note).toEqual({ kind: 'opted_out' });
  });

  it('where a number is asked for, is asked about: the number, or the end of our calls', () => {
    const script = asking({ type: 'integer' });
    const { note, last } = play(script, 'silence', '9');
    expect(note).toBeNull();
    expect(last).toContain('press 9 once more');
    expect(play(script, 'silence', '9', '9').note).toEqual({ kind: 'opted_out' });
    expect(play(script, 'silence', '9', '9#').note).toMatchObject({ kind: 'answer', value: 9 });
    expect(play(script, 'silence', '9#').note).toMatchObject({ kind: 'answer', value: 9 });
    expect(play(script, 'silence', '99').note).toMatchObject({ kind: 'answer', value: 99 });
    const numbers = asking({ type: 'integer', enum: [10, 20, 30, 40, 50, 60, 70, 80, 90] });
    expect(play(numbers, 'silence', '9').note).toEqual({ kind: 'opted_out' });
  });
});

describe('what does not answer', () => {
  it('is tried three times, and then the next question is put', () => {
    const { said, notes } = play(delivery, 'silence', '7', '7', '7');
    expect(said[1]).toMatch(/^Sorry, that is none of the answers\. Will somebody/);
    expect(said[3]).toContain('Which part of the day');
    expect(notes.slice(1)).toEqual(
      Array.from({ length: 3 }, () => ({ kind: 'not_understood', field: 'somebody_home' })),
    );
  });

  it('a voice is told that only keys are understood, and left when no key ever comes', () => {
    const { said, written, dialogue } = play(delivery, 'silence', 'voice 900', 'voice 9000', 'voice 900');
    expect(said[1]).toMatch(/^Sorry, I can not understand speech\..*Will somebody/);
    expect(written[1]).toBe('[speech]');
    expect(said[3]).toBe('I did not get any answer. We may try again another time. Goodbye.');
    expect(dialogue.end).toEqual({ kind: 'finished' });
  });

  it('silence is asked into twice', () => {
    const { said, dialogue } = play(delivery, 'silence', 'silence', 'silence', 'silence');
    expect(said[1]).toMatch(/^Are you still there\? Will somebody/);
    expect(said[3]).toContain('I could not hear you.');
    expect(dialogue.end).toEqual({ kind: 'finished' });
  });
});

describe('the read-back', () => {
  const answers = ['silence', '1', '3', '1124'];

  it('names what was noted, and ends with thanks when it is right', () => {
    const { said, written, dialogue } = play(delivery, ...answers, '1');
    expect(said[3]).toBe(
      'I have noted: somebody home: yes; part of day: evening; delivery day: Tuesday, November 24. Is that right? ' +
        'For yes, press 1. For no, press 2.',
    );
    expect(written[4]).toBe('[1] yes');
    expect(dialogue.end).toEqual({ kind: 'finished' });
  });

  it('leads through the questions again when it is not, and the new answers count', () => {
    const { said, notes, dialogue } = play(delivery, ...answers, '2', '2', '1', '1124', '1');
    expect(said[4]).toBe(
      'Will somebody be at home to accept the delivery? For yes, press 1. For no, press 2.',
    );
    expect(notes[5]).toMatchObject({ field: 'somebody_home', value: false });
    expect(dialogue.answers.get('part_of_day')).toBe('morning');
    expect(dialogue.end).toEqual({ kind: 'finished' });
  });

  it('is disputed three times at most', () => {
    const again = ['2', '1', '3', '1124'];
    expect(play(delivery, ...answers, ...again, ...again, '2').dialogue.end).toEqual({ kind: 'finished' });
  });

  it('takes no key that was not heard of', () => {
    const before = { ...play(delivery, ...answers).dialogue, heard: 'I have noted: somebody home' };
    expect(nextKeypadStep(delivery, before, eventOf('1')).dialogue.end).toBeNull();
  });
});

describe('a machine', () => {
  const leaving = scriptFor(deliverySchema, 'en', 'leave_message');

  it('is who speaks for four seconds without a pause before we have said what we want, or beeps', () => {
    for (const line of ['voice 4000', 'beep']) {
      expect(play(delivery, line)).toMatchObject({
        last: '',
        dialogue: { end: { kind: 'machine', did: 'hang_up' } },
      });
    }
    expect(play(delivery, 'voice 3980').dialogue.end).toBeNull();
    expect(play(delivery, 'silence', 'voice 4000').dialogue.end).toBeNull();
  });

  it('is not who has answered by keys, whatever beeps there', () => {
    const { said, notes, dialogue } = play(delivery, 'silence', '1', 'beep');
    expect(dialogue.end).toBeNull();
    expect(said[2]).toBe(said[1]);
    expect(notes[2]).toBeNull();
    expect(play(delivery, 'silence', '1', ...Array<string>(60).fill('beep')).dialogue.end).not.toBeNull();
  });

  it('gets the message after the beep, or when it has fallen silent', () => {
    for (const line of ['beep', 'silence']) {
      const { said, dialogue } = play(leaving, 'voice 4000', 'voice 2000', line);
      expect(said.slice(0, 2)).toEqual(['', '']);
      expect(said[2]).toContain('We did not reach you in person.');
      expect(dialogue.end).toEqual({ kind: 'machine', did: 'leave_message' });
    }
  });

  it('is left at the tones of an announcement, whatever the Goal says of machines, but not by who has answered', () => {
    const tones = { kind: 'information_tone' } as const;
    for (const script of [delivery, leaving]) {
      const { dialogue, say } = nextKeypadStep(script, beginKeypad, tones);
      expect(say).toEqual([]);
      expect(dialogue).toMatchObject({
        end: { kind: 'machine', did: 'hang_up' },
        answer: { by: 'announcement' },
      });
    }
    const answered = play(leaving, 'silence', '1').dialogue;
    expect(answered.answer.by).toBe('human');
    expect(nextKeypadStep(leaving, answered, tones).dialogue.end).toBeNull();
  });

  it('that never stops is left', () => {
    const { dialogue } = play(leaving, ...Array<string>(40).fill('voice 4000'));
    expect(dialogue.end).toEqual({ kind: 'machine', did: 'hang_up' });
  });
});

describe('the end of the time', () => {
  it.each(['silence', '1', 'voice 500'])('after %s comes a goodbye and no question', (line) => {
    const asked = play(delivery, 'silence').dialogue;
    const step = nextKeypadStep(delivery, asked, eventOf(line, true));
    expect(step.say.join(' ')).toBe(
      'I am sorry, I have to end the call now. Thank you for your time. Goodbye.',
    );
    expect(step.dialogue.end).toEqual({ kind: 'finished' });
    const answered = { kind: 'answer', field: 'somebody_home', value: true, quote: '[1] yes' };
    const missed = { kind: 'not_understood', field: 'somebody_home' };
    expect(step.note).toEqual({ silence: null, '1': answered, 'voice 500': missed }[line]);
  });
});

describe('whatever the callee does', () => {
  it.each(['en', 'es'])('the dialogue ends within bounded turns (%s)', (language) => {
    const script = scriptFor(
      {
        ...deliverySchema,
        properties: { ...deliverySchema.properties, count: { type: 'integer', description: 'How many?' } },
      },
      language,
    );
    const line = fc.oneof(
      fc.stringMatching(/^[0-9*#]{1,17}$/),
      fc.constantFrom('voice 500', 'voice 4000', 'silence', '1', '2', '*', '1124', '12#'),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(line, fc.double({ min: 0, max: 1, noNaN: true })), {
          minLength: 150,
          maxLength: 150,
        }),
        (lines) => {
          let dialogue: KeypadDialogue = beginKeypad;
          let turns = 0;
          for (const [each, share] of lines) {
            if (dialogue.end !== null) break;
            expect(keypadPatienceMs(script, dialogue, 0)).toBeLessThanOrEqual(8_000);
            const step = nextKeypadStep(script, dialogue, eventOf(each));
            const quote = step.note?.kind === 'answer' ? step.note.quote : '';
            expect(step.written).toContain(quote);
            const say = step.say.join(' ');
            dialogue = afterHearing(script, step.dialogue, say.slice(0, Math.ceil(say.length * share)));
            turns += 1;
          }
          expect(dialogue.end).not.toBeNull();
          expect(turns).toBeLessThan(60);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('on a line without a synthesizer', () => {
  const agent = createScriptedAgent({ clock: testClock, synthesizer: null });

  it('the agent says that it needs one, and only there', () => {
    expect(agent.problems('en-US', 'audio').join()).toMatch(/needs espeak-ng \(Debian package/);
    expect(agent.problems('en-US', 'speech')).toEqual([]);
    expect(agent.problems('tlh-XX', 'audio')).toHaveLength(2);
  });
});
