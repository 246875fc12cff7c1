import type { CallSchema, Scalar } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import type { Note, SpokenTurn } from '../../../src/agents/agent.ts';
import { drawCallResult } from '../../../src/result/draw-call-result.ts';
import { drawFields } from '../../../src/result/draw-result.ts';
import type { Extractor, FieldEvidence } from '../../../src/result/extractor.ts';
import { questionsOf } from '../../../src/calls/fields.ts';
import { createScriptedExtractor } from '../../../src/result/scripted-extractor.ts';

const schema: CallSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    agreed: { type: 'boolean' },
    visit: {
      type: 'object',
      additionalProperties: false,
      properties: { day: { type: 'string' }, guests: { type: 'integer' } },
      required: ['day'],
    },
    tags: { type: 'array', items: { type: 'string' } },
    mood: { type: 'string', enum: ['good', 'unknown'] },
  },
  required: ['agreed', 'tags', 'mood'],
};
const turn = (
  text: string,
  note: Note | null = null,
  speaker: SpokenTurn['speaker'] = 'user',
): SpokenTurn => ({
  speaker,
  text,
  offsetMs: 0,
  interrupted: false,
  notes: note === null ? [] : [note],
});
const answer = (field: string, value: Scalar, quote: string): Note => ({
  kind: 'answer',
  field,
  value,
  quote,
});

async function draw(
  turns: readonly SpokenTurn[],
  extractor: Extractor = createScriptedExtractor(),
  wanted = schema,
) {
  const drawn = await drawFields(
    { resultSchema: questionsOf(wanted, null), turns },
    extractor,
    new AbortController().signal,
  );
  if (drawn.kind === 'retry') throw new Error('not expected to fail');
  return drawCallResult(wanted, drawn);
}

describe('from the notes of a call', () => {
  const agreed = turn('Yes, sure.', answer('agreed', true, 'Yes'));

  it('a nested result is drawn with its evidence by path', async () => {
    const turns = [
      agreed,
      turn('On Monday', answer('visit/day', 'Monday', 'Monday')),
      turn('Red and blue', answer('tags', 'Red and blue', 'Red and blue')),
    ];
    expect(await draw(turns)).toEqual({
      kind: 'result',
      result: { agreed: true, visit: { day: 'Monday' }, tags: ['Red', 'blue'], mood: 'unknown' },
      evidence: {
        agreed: { value: true, turns: [0], quote: 'Yes' },
        'visit/day': { value: 'Monday', turns: [1], quote: 'Monday' },
        tags: { value: 'Red and blue', turns: [2], quote: 'Red and blue' },
      },
    });
  });

  it('optional parts that are not whole are left out', async () => {
    const turns = [agreed, turn('Four of us', answer('visit/guests', 4, 'Four'))];
    expect(await draw(turns)).toMatchObject({ result: { agreed: true, tags: [], mood: 'unknown' } });
    expect(await draw(turns)).not.toHaveProperty('result.visit');
  });

  it('without an answer to a required field there is none', async () => {
    const turns = [turn('On Monday', answer('visit/day', 'Monday', 'Monday'))];
    expect(await draw(turns)).toEqual({ kind: 'none', reason: 'missing_required' });
  });

  it('without any reply there is none', async () => {
    for (const turns of [[], [turn('Hello?')], [turn('Stop calling.', { kind: 'opted_out' })]]) {
      expect(await draw(turns)).toEqual({ kind: 'none', reason: 'nothing_said' });
    }
  });

  it('answers to other questions are passed over', async () => {
    const turns = [agreed, turn('Nine', answer('price', 9, 'Nine'))];
    expect(await draw(turns)).toMatchObject({ kind: 'result', result: { agreed: true } });
  });
});

describe('from any extractor', () => {
  const turns = [turn('Say yes.', null, 'bot'), turn('Sure thing.')];
  const drawn = (evidence: FieldEvidence) =>
    draw(turns, { extract: () => Promise.resolve({ kind: 'fields', fields: { agreed: evidence } }) });
  const agreed = { value: true, turns: [1], quote: 'Sure' };

  it('a value whose quote nobody said is not used', async () => {
    expect(await drawn(agreed)).toMatchObject({ kind: 'result' });
    for (const evidence of [
      { ...agreed, quote: 'Yes indeed' },
      { ...agreed, quote: '' },
      { ...agreed, turns: [] },
      { ...agreed, turns: [7] },
      { ...agreed, turns: [0], quote: 'yes' },
    ]) {
      expect(await drawn(evidence)).toEqual({ kind: 'none', reason: 'missing_required' });
    }
  });

  it('a value of the wrong type is refused', async () => {
    expect(await drawn({ ...agreed, value: 'yes' })).toEqual({ kind: 'none', reason: 'schema_mismatch' });
  });
});
