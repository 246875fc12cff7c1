import type { Scalar, ScalarProperty } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import { en } from '../../../src/agents/scripted/locales/en.ts';
import { parseIsoDay } from '../../../src/agents/scripted/understanding/dates.ts';
import { fold } from '../../../src/agents/scripted/understanding/text.ts';
import {
  understand,
  type Field,
  type Listening,
} from '../../../src/agents/scripted/understanding/understand.ts';

/** Today is Saturday, 21 November 2026. */
const listening = (region = 'US'): Listening => ({
  grammar: en.grammar,
  today: parseIsoDay('2026-11-21') ?? 0,
  region,
});

const field = (property: ScalarProperty, required = true): Field => ({ name: 'field', property, required });
const yesNo = field({ type: 'boolean', description: 'Does it suit?' });
const whole = field({ type: 'integer', description: 'How many?' });
const amount = field({ type: 'number', description: 'How much?' });
const date = field({ type: 'string', description: 'On which day?' });
const words = field({ type: 'string', description: 'What should we know?' });
const optionalWords = field({ type: 'string', description: 'What should we know?' }, false);
const person = field({ type: 'string', description: 'May I have your name?' });
const partOfDay = field({ type: 'string', enum: ['morning', 'afternoon', 'evening', 'unknown'] });
const rating = field({
  type: 'string',
  enum: ['very_satisfied', 'satisfied', 'not_satisfied', 'dissatisfied'],
});
const action = field({ type: 'string', enum: ['confirm', 'reschedule', 'cancel'] });
const size = field({ type: 'integer', enum: [10, 20, 30] });
const agreement = field({ type: 'string', enum: ['yes', 'no', 'maybe'] });

const noAnswer = Symbol('no answer');
const unclear = Symbol('unclear');
type Expected = Scalar | typeof noAnswer | typeof unclear;

function heard(which: Field, utterance: string, region?: string): Expected {
  const understood = understand(which, utterance, listening(region));
  if (understood.kind === 'value') return understood.value;
  return understood.kind === 'no_answer' ? noAnswer : unclear;
}

/** One test for each row: what is said, and what is understood. */
function table(name: string, which: Field, rows: readonly (readonly [string, Expected])[]): void {
  it.each(rows)(`${name}: %s`, (utterance, expected) => {
    expect(heard(which, utterance)).toBe(expected);
  });
}

table('yes and no', yesNo, [
  ['Yes.', true],
  ['yeah', true],
  ['Yep, sure.', true],
  ['Of course!', true],
  ['Absolutely.', true],
  ['No problem.', true],
  ['Not a problem at all.', true],
  ['Why not?', true],
  ["That's right.", true],
  ['I think so.', true],
  ['Uh, yes, I guess so.', true],
  ["I'd love to.", true],
  ['We will be there.', true],
  ['That works for me.', true],
  ["I don't mind.", true],
  ["Yes, I can't wait.", true],
  ['Okay.', true],
  ['OK', true],
  ['Sounds good', true],
  ['mhm', true],
  ['No.', false],
  ['Nope.', false],
  ['No, thank you.', false],
  ['Not really.', false],
  ["I don't think so.", false],
  ["I'm afraid not.", false],
  ['Absolutely not.', false],
  ['Of course not.', false],
  ["I can't, sorry.", false],
  ["That won't work.", false],
  ['We will not be there.', false],
  ['Unfortunately we are away.', false],
  ['Not at all', false],
  ['Nobody will be home.', false],
  ["No, I'd rather you came later.", false],
  ['No. Wait, actually, yes.', true],
  ['Yes, sorry, I mean no.', false],
  ['I don’t know.', noAnswer],
  ["I'm not sure.", noAnswer],
  ['No idea.', noAnswer],
  ["I'd rather not say.", noAnswer],
  ['Purple monkeys.', unclear],
  ['Hmm.', unclear],
  ['Yes and no.', unclear],
  ['', unclear],
  ['…', unclear],
  [
    'Well my neighbour said that no paint is good in the rain and then her cousin came with the green truck',
    unclear,
  ],
]);

table('whole numbers', whole, [
  ['3', 3],
  ['Three.', 3],
  ['Twenty-five.', 25],
  ['twenty five people', 25],
  ['A dozen.', 12],
  ['half a dozen', 6],
  ['a couple', 2],
  ['two dozen', 24],
  ['one hundred', 100],
  ['a hundred and twenty', 120],
  ['two hundred and fifty', 250],
  ['1,250', 1250],
  ['three thousand four hundred', 3400],
  ['a million', 1_000_000],
  ['zero', 0],
  ['None.', 0],
  ['Nobody.', 0],
  ['Just me.', 1],
  ['There will be four of us.', 4],
  ['Three, no, four.', 4],
  ['Not three, four.', 4],
  ['Uh, I think seven.', 7],
  ['minus five', -5],
  ['-5', -5],
  ['Three or four.', unclear],
  ['Two and a half.', unclear],
  ['many', unclear],
  ["I don't know.", noAnswer],
]);

table('numbers', amount, [
  ['2.5', 2.5],
  ['two point five', 2.5],
  ['zero point two five', 0.25],
  ['two and a half', 2.5],
  ['half', 0.5],
  ['$1,000.50', 1000.5],
  ['about 12 dollars', 12],
  ['minus three point one', -3.1],
  ['3 thousand', 3000],
  ['12.', 12],
]);

table('days', date, [
  ['2027-05-03', '2027-05-03'],
  ['Today.', '2026-11-21'],
  ['Tomorrow would be great.', '2026-11-22'],
  ['The day after tomorrow.', '2026-11-23'],
  ['Tuesday', '2026-11-24'],
  ['Next Tuesday.', '2026-11-24'],
  ['this coming Friday', '2026-11-27'],
  ['Saturday', '2026-11-28'],
  ['this Saturday', '2026-11-21'],
  ['Sunday', '2026-11-22'],
  ['Tuesday next week', '2026-11-24'],
  ['in three days', '2026-11-24'],
  ['in a week', '2026-11-28'],
  ['two weeks from today', '2026-12-05'],
  ['a week from tomorrow', '2026-11-29'],
  ['The 3rd of May.', '2027-05-03'],
  ['the third of May', '2027-05-03'],
  ['May 3rd', '2027-05-03'],
  ['May the third', '2027-05-03'],
  ['3 May 2028', '2028-05-03'],
  ['December 1st, 2026', '2026-12-01'],
  ['Dec 24', '2026-12-24'],
  ['the twenty-first of December', '2026-12-21'],
  ['the twenty first', '2026-11-21'],
  ['the 20th', '2026-12-20'],
  ['Tuesday the 24th', '2026-11-24'],
  ['5/3', '2027-05-03'],
  ['12/24/2026', '2026-12-24'],
  ['the 29th of February', '2028-02-29'],
  ['Monday, no, Wednesday.', '2026-11-25'],
  ['Not Monday, Wednesday.', '2026-11-25'],
  ['Wednesday, not Monday.', '2026-11-25'],
  ['the 31st of February', unclear],
  ['13/13', unclear],
  ['Monday or Tuesday', unclear],
  ['next week', unclear],
  ['whenever', unclear],
  ["I don't know yet.", noAnswer],
]);

it('a date with slashes is day first outside the United States', () => {
  expect(heard(date, '5/3', 'GB')).toBe('2027-03-05');
});

table('options', partOfDay, [
  ['Morning.', 'morning'],
  ['In the afternoon, please.', 'afternoon'],
  ['EVENING', 'evening'],
  ['mornings', 'morning'],
  ['The second one.', 'afternoon'],
  ['the last one', 'evening'],
  ['option 1', 'morning'],
  ['number three', 'evening'],
  ['The first.', 'morning'],
  ['Not the morning, the evening.', 'evening'],
  ['Morning, sorry, afternoon.', 'afternoon'],
  ['Morning or afternoon.', unclear],
  ['the fourth one', unclear],
  ['unknown', unclear],
  ['midnight', unclear],
  ["I'm not sure, maybe the evening.", 'evening'],
  ['No idea.', noAnswer],
]);

table('options of several words', rating, [
  ['Very satisfied.', 'very_satisfied'],
  ['I was satisfied.', 'satisfied'],
  ['not satisfied', 'not_satisfied'],
  ['Dissatisfied.', 'dissatisfied'],
  ['VERY, very satisfied!', 'very_satisfied'],
]);

table('inflected options', action, [
  ['I would like it cancelled.', 'cancel'],
  ['Confirmed.', 'confirm'],
  ['Rescheduling, please.', 'reschedule'],
]);

table('numeric options', size, [
  ['Twenty.', 20],
  ['30', 30],
  ['Forty.', unclear],
]);

table('options that mean yes and no', agreement, [
  ['Sure.', 'yes'],
  ["I'm afraid not.", 'no'],
  ['Maybe.', 'maybe'],
]);

table('free text', words, [
  ['Please ring twice.', 'Please ring twice'],
  ['Um, well, the bell is broken.', 'the bell is broken'],
  ['  spaces   and\nlines ', 'spaces and lines'],
  ['No', 'No'],
  ['Hmm, uh.', unclear],
  ['Blah blah blah.', unclear],
  ['...', unclear],
  ["I don't know.", noAnswer],
]);

table('free text that may be left out', optionalWords, [
  ["No, that's all.", noAnswer],
  ['Nothing.', noAnswer],
  ['No, thank you.', noAnswer],
  ['No dogs, please.', 'No dogs, please'],
]);

table('names', person, [
  ['My name is Alex Morgan.', 'Alex Morgan'],
  ["It's Sam.", 'Sam'],
  ['Jordan Lee', 'Jordan Lee'],
]);

describe('what a callee may want', () => {
  const { grammar } = en;
  it.each([
    ["Don't call me again!", 'optOut'],
    ['Please stop calling me', 'optOut'],
    ['take me off your list', 'optOut'],
    ['Remove my number from your list.', 'optOut'],
    ['never call here again', 'optOut'],
    ['Do not call this number anymore', 'optOut'],
    ['Can you repeat that?', 'repeat'],
    ["Sorry, I didn't catch that.", 'repeat'],
    ['What did you say?', 'repeat'],
    ['Pardon?', 'repeat'],
    ['Are you a robot?', 'robot'],
    ['Am I talking to a machine?', 'robot'],
    ['Is this a real person?', 'robot'],
    ['Who is this?', 'who'],
    ["Who's calling?", 'who'],
    ['What is this about?', 'about'],
    ['One moment, please.', 'wait'],
    ['Hold on.', 'wait'],
    ["I'm driving right now", 'badMoment'],
    ['Call me back later', 'badMoment'],
    ['You have the wrong number.', 'wrongNumber'],
    ['Okay, bye.', 'farewell'],
  ] as const)('%s', (utterance, intent) => {
    expect(grammar[intent].test(fold(utterance))).toBe(true);
  });

  it.each([
    "Don't call before nine.",
    'Please call me when you arrive.',
    'Do not call on Sundays.',
    'Yes, that is fine.',
    'I will be there.',
    'Next Tuesday.',
  ])('%s is no wish to be left alone', (utterance) => {
    expect(grammar.optOut.test(fold(utterance))).toBe(false);
  });
});
