import { describe, expect, it } from 'vitest';
import { pauseAfterMs } from '../../../../src/agents/cascade/end-of-turn.ts';

const complete = 500;
const open = 900;
const dictating = 1_600;
const unfinished = 1_800;

const english: readonly (readonly [string, number])[] = [
  ['Yes.', complete],
  ['yes', complete],
  ['No, thanks', complete],
  ['The evening is best.', complete],
  ['Who is this?', complete],
  ['I will be at home on Tuesday', open],
  ['The morning and', unfinished],
  ['I am at home in the morning, and.', unfinished],
  ['Well, um', unfinished],
  ['It is the', unfinished],
  ['Let me see...', unfinished],
  ['On Tuesday,', unfinished],
  ['Wait.', unfinished],
  ['four one five', dictating],
  ['It is 4 1 5', dictating],
  ['415 555', dictating],
  ['My number is 415 555 0100.', dictating],
  ['five double six one', dictating],
  ['Two.', complete],
  ['At 5 o’clock.', complete],
  ['There are three of us.', complete],
  ['In 2026.', complete],
];
const spanish: readonly (readonly [string, number])[] = [
  ['Sí.', complete],
  ['sí por favor', complete],
  ['¿Quién es?', complete],
  ['Por la tarde.', complete],
  ['Estoy en casa el martes', open],
  ['Por la mañana y', unfinished],
  ['Pues, este', unfinished],
  ['Vivo en la', unfinished],
  ['seis cinco cuatro', dictating],
  ['Es el 654 321', dictating],
];

describe('the end of a turn', () => {
  it.each(english)('in English, after "%s": %i ms', (text, ms) => {
    expect(pauseAfterMs(text, 'en')).toBe(ms);
  });

  it.each(spanish)('in Spanish, after "%s": %i ms', (text, ms) => {
    expect(pauseAfterMs(text, 'es')).toBe(ms);
  });

  it('goes by marks and digits alone in another language', () => {
    expect(pauseAfterMs('Ja, gerne.', 'de')).toBe(complete);
    expect(pauseAfterMs('Am Abend und', 'de')).toBe(open);
    expect(pauseAfterMs('4 1 5', 'de')).toBe(dictating);
  });
});
