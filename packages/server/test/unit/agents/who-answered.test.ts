import type { AnsweredBy } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import { localeFor } from '../../../src/agents/scripted/locales/locale.ts';
import {
  firstWordsMs,
  nextAnswer,
  treatmentOf,
  unanswered,
  type Answer,
  type Sign,
} from '../../../src/agents/who-answered.ts';
import { firstWords } from './first-words.ts';

const grammar = localeFor('en')?.grammar ?? null;
const spanish = localeFor('es')?.grammar ?? null;

const says = (text: string, over: Partial<Extract<Sign, { kind: 'words' }>> = {}): Sign => ({
  kind: 'words',
  text,
  lastedMs: 1_000,
  introduced: false,
  ...over,
});
const voice = (lastedMs: number, introduced = false): Sign => ({ kind: 'voice', lastedMs, introduced });
const report = (who: Extract<Sign, { kind: 'report' }>['who']): Sign => ({ kind: 'report', who });
const hello = says('Hello?');
const greeting = says('You have reached Ana. Please leave a message after the tone.');
const notInService = says('The number you have dialed is not in service.');
const menu = says('For sales, press 1. For a representative, press 2.');
const silence: Sign = { kind: 'silence' };
const beep: Sign = { kind: 'beep' };
const tones: Sign = { kind: 'information_tone' };
const engaged: Sign = { kind: 'engaged' };

const after = (signs: readonly Sign[], rules = grammar) =>
  signs.reduce((answer, sign) => nextAnswer(answer, sign, rules), unanswered);
const who = (...signs: readonly Sign[]) => after(signs).by;

describe('who answered', () => {
  /** Every sign in every state: who is on the line then. */
  const states: Readonly<Record<AnsweredBy | 'nobody' | 'engaged', readonly Sign[]>> = {
    nobody: [],
    uncertain: [silence],
    human: [hello],
    menu: [menu],
    voicemail: [greeting],
    announcement: [notInService],
    engaged: [hello, engaged],
  };
  const signs = {
    'a hello': hello,
    'words of a voicemail': greeting,
    'words of an announcement': notInService,
    'words of a menu': menu,
    'a monologue': says('We are glad that you call us today', { lastedMs: 9_000 }),
    'a short voice': voice(800),
    'a long voice': voice(4_000),
    silence,
    'a beep': beep,
    'information tones': tones,
    'a model that says voicemail': report('voicemail'),
    'a model that says announcement': report('announcement'),
    'a model that says menu': report('menu'),
    'a model that answers': report('human'),
    'an answer to our question': engaged,
  } as const satisfies Record<string, Sign>;
  const [u, h, m, v, a] = ['uncertain', 'human', 'menu', 'voicemail', 'announcement'] as const;
  type Row = readonly [...Record<keyof typeof states, AnsweredBy | null>[keyof typeof states][]];
  /** In the order of the states: nobody, uncertain, human, menu, voicemail, announcement, engaged. */
  const table: Readonly<Record<keyof typeof signs, Row>> = {
    'a hello': [h, h, h, h, v, a, h],
    'words of a voicemail': [v, v, v, v, v, a, h],
    'words of an announcement': [a, a, a, a, v, a, h],
    'words of a menu': [m, m, m, m, v, a, h],
    'a monologue': [u, u, h, m, v, a, h],
    'a short voice': [u, u, h, m, v, a, h],
    'a long voice': [v, v, v, v, v, a, h],
    silence: [u, u, h, m, v, a, h],
    'a beep': [v, v, v, v, v, a, h],
    'information tones': [a, a, a, a, a, a, h],
    'a model that says voicemail': [v, v, v, v, v, v, v],
    'a model that says announcement': [a, a, a, a, a, a, a],
    'a model that says menu': [m, m, m, m, m, m, m],
    'a model that answers': [null, u, h, m, v, a, h],
    'an answer to our question': [h, h, h, h, v, a, h],
  };
  const names = Object.keys(states) as (keyof typeof states)[];
  const cases = Object.entries(table).flatMap(([sign, row]) =>
    names.map((state, index) => [state, sign as keyof typeof signs, row[index] ?? null] as const),
  );
  it.each(cases)('with %s on the line, after %s: %s', (state, sign, expected) => {
    expect(nextAnswer(after(states[state]), signs[sign], grammar).now).toBe(expected);
  });

  it('is who answered first when a menu led to a person, and the machine that it led to otherwise', () => {
    expect(after([menu, hello])).toMatchObject({ by: 'menu', now: 'human' });
    expect(after([menu, hello, engaged])).toMatchObject({ by: 'menu', now: 'human', engaged: true });
    expect(after([menu, greeting])).toMatchObject({ by: 'voicemail', now: 'voicemail' });
    expect(after([menu, tones])).toMatchObject({ by: 'announcement' });
  });

  it('is no machine for what is said of voicemail once the callee knows who is calling', () => {
    const introduced = { introduced: true };
    const text = 'Her phone says to leave a message after the tone.';
    expect(who(hello, says(text))).toBe('voicemail');
    expect(who(hello, says(text, introduced))).toBe('human');
    expect(who(hello, says('I can not take your call now', { introduced: true, lastedMs: 9_000 }))).toBe(
      'human',
    );
    expect(who(hello, says('For sales, press 1.', introduced))).toBe('menu');
  });

  it('is no machine for its words behind the first three utterances, nor for a beep behind eight', () => {
    const hellos = (count: number) => Array.from({ length: count }, () => hello);
    expect(who(...hellos(2), greeting)).toBe('voicemail');
    expect(who(...hellos(3), greeting)).toBe('human');
    expect(who(...hellos(7), beep)).toBe('voicemail');
    expect(who(...hellos(8), beep)).toBe('human');
    // Behind a menu they are counted anew.
    expect(who(...hellos(2), menu, hello, hello, greeting)).toBe('voicemail');
  });

  it('is no machine for a sound once they have replied to us, unless it was a machine’s words that they said last', () => {
    const reply = says('He is with a patient, what is it about?', { introduced: true });
    const recording = says('Please leave a message after the tone.', { introduced: true });
    const doubtful = says('I can’t take the call right now.', { introduced: true });
    for (const sound of [beep, tones]) {
      expect(who(hello, reply, sound)).toBe('human');
      expect(who(silence, reply, sound)).toBe('human');
      expect(who(hello, reply, doubtful, sound)).toBe('human');
      expect(after([menu, reply, sound])).toMatchObject({ by: 'menu', now: 'human' });
    }
    // The model's word counts whatever they said, and with it the sound.
    expect(who(hello, reply, report('voicemail'), beep)).toBe('voicemail');
    // Before that it may be the end of a short greeting, and after that they may have put us through.
    expect(who(hello, beep)).toBe('voicemail');
    expect(who(hello, reply, recording)).toBe('human');
    expect(who(hello, reply, recording, beep)).toBe('voicemail');
    expect(who(silence, recording, beep)).toBe('voicemail');
    // Without rules for the language it takes the model's verdict, too.
    const noRules = (...signs: readonly Sign[]) => after(signs, null).by;
    expect(noRules(hello, report('human'), reply, beep)).toBe('human');
    expect(noRules(hello, reply, beep)).toBe('voicemail');
  });

  it('is uncertain by words of a language without rules, until the model says more', () => {
    expect(after([hello], null).by).toBe('uncertain');
    expect(after([hello, report('human')], null).by).toBe('human');
    expect(after([greeting, report('voicemail')], null).by).toBe('voicemail');
    // A model that speaks first has judged nobody.
    expect(after([silence, report('human')], null).by).toBe('uncertain');
  });

  it('is known by a long voice only before the callee knows who is calling', () => {
    expect(who(voice(5_000))).toBe('voicemail');
    expect(who(voice(3_999))).toBe('uncertain');
    expect(who(voice(5_000, true))).toBe('uncertain');
  });

  it('is open while one sign alone speaks for a machine, until more of its words, a beep or the model tell', () => {
    const introduced = { introduced: true };
    const reached = says("You've reached the Smiths.");
    const refusal = "We can't come to the phone right now.";
    const absent = says(refusal);
    expect(who(reached)).toBe('uncertain');
    expect(who(reached, absent)).toBe('voicemail');
    expect(who(reached, beep)).toBe('voicemail');
    expect(who(reached, report('voicemail'))).toBe('voicemail');
    expect(who(reached, report('human'))).toBe('human');
    expect(who(reached, says('How may I help you?'), absent)).toBe('human');
    // What was said before our introduction counts no more.
    expect(who(reached, says(refusal, introduced))).toBe('uncertain');
    expect(who(says("You've reached the Smiths.", { lastedMs: 7_000 }))).toBe('voicemail');
    expect(who(says('Where may I connect you?', { lastedMs: 7_000 }))).toBe('human');
    // One behind a menu is no menu.
    expect(after([menu, reached])).toMatchObject({ by: 'menu', now: 'uncertain' });
    expect(after([menu, says('You have reached the Smiths.', introduced), beep]).by).toBe('voicemail');
    expect(after([menu, says('Leave a message after the tone.', { introduced: true })])).toMatchObject({
      now: 'uncertain',
    });
  });

  it('is known in Spanish as well', () => {
    const text = 'Ha llamado al buzón de voz.';
    expect(nextAnswer(unanswered, says(text), spanish).by).toBe('voicemail');
    expect(nextAnswer(unanswered, says('¿Diga?'), spanish).by).toBe('human');
  });

  it('changes nothing that it is given', () => {
    const before: Answer = Object.freeze({ ...unanswered });
    expect(nextAnswer(before, hello, grammar)).not.toBe(before);
    expect(before).toEqual(unanswered);
  });
});

/** A machine that is taken for uncertain is talked to until it beeps; a person who is taken for one is lost. */
describe.each(['en', 'es'] as const)('first words in %s', (language) => {
  const rules = localeFor(language)?.grammar ?? null;
  const heard = Object.entries(firstWords[language]).map(([speaker, texts]) => {
    const taken = texts.map((text) => ({ text, by: nextAnswer(unanswered, says(text), rules).by }));
    return { speaker, taken };
  });

  it('never take a person for a machine', () => {
    const lost = heard.find(({ speaker }) => speaker === 'human')?.taken;
    expect(lost?.filter(({ by }) => by !== 'human' && by !== 'uncertain')).toEqual([]);
  });

  it('tell machines from one another, and leave few of them open', () => {
    const classes = ['human', 'uncertain', 'menu', 'voicemail', 'announcement'] as const;
    const counts = heard.map(({ speaker, taken }) => {
      const row = classes.map((each) => taken.filter(({ by }) => by === each).length);
      return [speaker, ...row] as const;
    });
    process.stdout.write(`${language}: ${['said by', ...classes].join(' | ')}\n`);
    for (const row of counts) process.stdout.write(`${row.join(' | ')}\n`);
    const mistaken = heard.flatMap(({ speaker, taken }) =>
      taken
        .filter(({ by }) => speaker !== 'human' && by !== speaker && by !== 'uncertain')
        .map(({ text, by }) => [text, by]),
    );
    expect(mistaken).toEqual([]);
    for (const { speaker, taken } of heard.filter((each) => each.speaker !== 'human')) {
      const left = taken.filter(({ by }) => by === 'uncertain').map(({ text }) => text);
      expect({ speaker, left, few: left.length <= taken.length / 4 }).toMatchObject({ few: true });
    }
  });
});

it('the Goal says what is done with a machine, but for announcements, which nobody can talk to', () => {
  const goal = { machine: 'leave_message', menu: 'navigate' } as const;
  const curt = { machine: 'hang_up', menu: 'hang_up' } as const;
  const classes = ['human', 'uncertain', 'menu', 'voicemail', 'announcement'] as const;
  expect(classes.map((each) => treatmentOf(each, goal))).toEqual([
    'talk',
    'talk',
    'navigate',
    'leave_message',
    'hang_up',
  ]);
  expect(classes.map((each) => treatmentOf(each, curt))).toEqual([
    'talk',
    'talk',
    'hang_up',
    'hang_up',
    'hang_up',
  ]);
});

it('the first words are awaited until 2 s after the answer, but a slow start listens a little too', () => {
  expect([0, 500, 1_700, 5_000].map((atMs) => firstWordsMs('outbound', atMs))).toEqual([
    2_000, 1_500, 300, 300,
  ]);
  expect(firstWordsMs('inbound', 0)).toBe(500);
});
