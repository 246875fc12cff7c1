import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { heardOf, sentencesOf } from '../../../../src/agents/audio/sentences.ts';
import { maxSpokenLength } from '../../../../src/agents/audio/synthesizer.ts';

const blankless = (text: string) => text.replace(/\s+/g, '');

describe('a text', () => {
  it('is spoken sentence by sentence', () => {
    expect(sentencesOf('Hello. Is it 2.5 km? Yes; or no!  Good.')).toEqual([
      'Hello.',
      'Is it 2.5 km?',
      'Yes;',
      'or no!',
      'Good.',
    ]);
    expect(sentencesOf('  ')).toEqual([]);
  });

  it('loses no character, and has no piece that is too long', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 700 })), (words) => {
        const text = words.join(' ');
        const pieces = sentencesOf(text);
        expect(blankless(pieces.join(''))).toBe(blankless(text));
        expect(pieces.every(({ length }) => length > 0 && length <= maxSpokenLength)).toBe(true);
      }),
    );
  });
});

describe('what was heard of a sentence', () => {
  it.each([
    [0, ''],
    [0.15, ''],
    [0.55, 'Will somebody'],
    [0.99, 'Will somebody be at'],
    [1, 'Will somebody be at home?'],
  ])('at %f of its time ends with a whole word', (share, heard) => {
    expect(heardOf('Will somebody be at home?', share)).toBe(heard);
  });
});
