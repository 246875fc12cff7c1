import { array, assert as assertProperty, constantFrom, integer, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maxSpokenLength } from '../../../../src/agents/audio/synthesizer.ts';
import { SentenceCutter } from '../../../../src/agents/cascade/sentence-cutter.ts';

function cut(...pieces: readonly string[]): string[] {
  const cutter = new SentenceCutter();
  return [...pieces.flatMap((piece) => cutter.take(piece)), ...cutter.finish()];
}

describe('the sentence cutter', () => {
  it('gives a sentence as soon as it is whole', () => {
    const cutter = new SentenceCutter();
    expect(cutter.take('Good morning. Are')).toEqual(['Good morning.']);
    expect(cutter.take(' you there?')).toEqual([]);
    expect(cutter.take(' ')).toEqual(['Are you there?']);
    expect(cutter.finish()).toEqual([]);
  });

  it.each([
    ['It is 3.50 euros. Thank you!', ['It is 3.50 euros.', 'Thank you!']],
    [
      'I call for Dr. Smith, at 5 p.m. today. Is that right?',
      ['I call for Dr. Smith, at 5 p.m. today.', 'Is that right?'],
    ],
    ['Habla la Sra. Pérez. ¿Está en casa?', ['Habla la Sra. Pérez.', '¿Está en casa?']],
    ['**Great!** Here:\n- one\n- two', ['Great!', 'Here:', 'one', 'two']],
    ['See [our page](https://example.com) 😀 for `more`.', ['See our page for more.']],
    ['<think>The person wants. What?</think>Yes, I am.', ['Yes, I am.']],
    ['Yes. <think>never closed. So', ['Yes.']],
    [' \n 🙂 ... ', []],
  ])('cuts "%s"', (text, sentences) => {
    expect(cut(text)).toEqual(sentences);
  });

  it('cuts alike however the text comes in pieces, and never gives more than a voice takes', () => {
    const word = constantFrom(
      'Yes.',
      'no',
      'Dr. X',
      '<think>',
      '</think>',
      '3.5',
      'and!',
      '\n',
      'word'.repeat(30),
    );
    const text = array(word, { maxLength: 40 }).map((words) => words.join(' '));
    assertProperty(
      property(text, integer({ min: 1, max: 9 }), (whole, size) => {
        const pieces = whole.match(new RegExp(`.{1,${size}}`, 'gsu')) ?? [];
        const sentences = cut(...pieces);
        expect(sentences.every(({ length }) => length > 0 && length <= maxSpokenLength)).toBe(true);
        expect(sentences.join(' ').replaceAll(' ', '')).toBe(cut(whole).join(' ').replaceAll(' ', ''));
      }),
    );
  });
});
