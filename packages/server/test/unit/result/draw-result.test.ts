import type { ResultSchema } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import type { Note, SpokenTurn } from '../../../src/agents/agent.ts';
import { drawResult } from '../../../src/result/draw-result.ts';
import type { Extraction, Extractor } from '../../../src/result/extractor.ts';
import { createScriptedExtractor } from '../../../src/result/scripted-extractor.ts';

const resultSchema: ResultSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    agreed: { type: 'boolean' },
    mood: { type: 'string', enum: ['good', 'bad', 'unknown'] },
    remark: { type: 'string' },
  },
  required: ['agreed'],
};
const signal = new AbortController().signal;

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
const answer = (field: string, value: string | number | boolean, quote: string): Note => ({
  kind: 'answer',
  field,
  value,
  quote,
});
const draw = (turns: readonly SpokenTurn[], schema = resultSchema) =>
  drawResult({ resultSchema: schema, turns }, createScriptedExtractor(), signal);
const requiring = (...required: string[]): ResultSchema => ({ ...resultSchema, required });

describe('from the notes of a call', () => {
  it('a result is drawn with its evidence, optional fields left out', async () => {
    const turns = [turn('Do you agree?', null, 'bot'), turn('Yes, sure.', answer('agreed', true, 'Yes'))];
    expect(await draw(turns)).toEqual({
      kind: 'result',
      result: { agreed: true },
      evidence: { agreed: { value: true, turns: [1], quote: 'Yes' } },
    });
  });

  it('the last note of a field counts', async () => {
    const turns = [
      turn('Yes.', answer('agreed', true, 'Yes.')),
      turn('No, I meant no.', answer('agreed', false, 'No, I meant no.')),
    ];
    expect(await draw(turns)).toMatchObject({
      result: { agreed: false },
      evidence: { agreed: { turns: [1] } },
    });
  });

  it('what was noted late is supported by the turn that it quotes', async () => {
    const turns = [
      turn('Yes, I agree.'),
      turn('So you agree?', answer('agreed', true, 'yes, I  agree'), 'bot'),
      turn('Right.', answer('mood', 'good', 'Wonderful!')),
    ];
    expect(await draw(turns)).toEqual({
      kind: 'result',
      result: { agreed: true },
      evidence: { agreed: { value: true, turns: [0], quote: 'Yes, I agree' } },
    });
  });

  it('a note whose words nobody said gives no value, and takes away only another one', async () => {
    const said = turn('Yes.', answer('agreed', true, 'Yes.'));
    const unsaid = (value: boolean) => turn('Mm.', answer('agreed', value, 'that is what I said'));
    expect(
      await draw([turn('Yes.', null, 'bot'), turn('Hm.', answer('agreed', true, 'Yes.'))]),
    ).toMatchObject({
      detailCode: 'missing_required',
    });
    expect(await draw([said, unsaid(true)])).toMatchObject({ evidence: { agreed: { turns: [0] } } });
    expect(await draw([said, unsaid(false)])).toMatchObject({ detailCode: 'missing_required' });
  });

  it('a number that nobody said is not used unless it was chosen, and free text becomes the words of the callee', async () => {
    const schema: ResultSchema = {
      ...resultSchema,
      properties: {
        price: { type: 'number' },
        remark: { type: 'string' },
        size: { type: 'string', enum: ['100 ml', '250 ml'] },
      },
      required: [],
    };
    const turns = [
      turn('That is cheap.', answer('price', 4500, 'cheap')),
      turn('Ring twice.', answer('remark', 'They were very unhappy with us', 'ring twice')),
    ];
    expect(await draw(turns, schema)).toMatchObject({ result: { remark: 'Ring twice' } });
    const chosen = [turn('Hm.'), turn('The second one.', answer('size', '250 ml', 'the second one'))];
    expect(await draw(chosen, schema)).toMatchObject({ result: { size: '250 ml' } });
    expect(await draw([turn('For 4500.', answer('price', 4500, '4500'))], schema)).toMatchObject({
      result: { price: 4500 },
    });
  });

  it('an answer that is taken back is none', async () => {
    const turns = [
      turn('Yes.', answer('agreed', true, 'Yes.')),
      turn('Blue.', { kind: 'not_understood', field: 'agreed' }),
    ];
    expect(await draw(turns)).toMatchObject({ code: 'result_invalid', detailCode: 'missing_required' });
  });

  it('nothing but small talk gives no result', async () => {
    for (const turns of [[], [turn('Hello?')], [turn('Hello?', null, 'bot'), turn('Who is this?')]]) {
      expect(await draw(turns)).toEqual({
        kind: 'error',
        code: 'result_unavailable',
        detailCode: 'nothing_said',
      });
    }
  });

  it('a wish not to be called instead of answers gives no result', async () => {
    const unclear = turn('Blue.', { kind: 'not_understood', field: 'agreed' });
    const optedOut = turn('Never call again.', { kind: 'opted_out' });
    for (const turns of [[optedOut], [unclear, optedOut]]) {
      expect(await draw(turns)).toEqual({
        kind: 'error',
        code: 'result_unavailable',
        detailCode: 'opted_out',
      });
    }
  });

  it('answers before a wish not to be called are kept', async () => {
    const turns = [turn('Yes.', answer('agreed', true, 'Yes.')), turn('Stop.', { kind: 'opted_out' })];
    expect(await draw(turns)).toMatchObject({ kind: 'result', result: { agreed: true } });
  });

  it('a required field without an answer makes the result invalid', async () => {
    const turns = [turn('Blue.', { kind: 'not_understood', field: 'agreed' })];
    expect(await draw(turns)).toEqual({
      kind: 'error',
      code: 'result_invalid',
      detailCode: 'missing_required',
    });
  });

  it('a required field whose enum knows the unknown is filled with it, without evidence', async () => {
    const turns = [turn('No idea.', { kind: 'not_understood', field: 'mood' })];
    expect(await draw(turns, requiring('mood'))).toEqual({
      kind: 'result',
      result: { mood: 'unknown' },
      evidence: {},
    });
  });

  it('an optional field is never filled with the unknown', async () => {
    const turns = [turn('Yes.', answer('agreed', true, 'Yes.'))];
    expect(await draw(turns)).toMatchObject({ result: { agreed: true } });
  });

  it('replies without values are enough when nothing is required', async () => {
    const turns = [turn('No.', { kind: 'not_understood', field: 'remark' })];
    expect(await draw(turns, requiring())).toEqual({ kind: 'result', result: {}, evidence: {} });
  });

  it('fields may be called as what every object has', async () => {
    const schema: ResultSchema = {
      type: 'object',
      additionalProperties: false,
      properties: Object.fromEntries([
        ['constructor', { type: 'string' as const }],
        ['toString', { type: 'string' as const }],
      ]),
      required: ['constructor', 'toString'],
    };
    const named = turn('Ana', answer('constructor', 'Ana', 'Ana'));
    expect(await draw([named], schema)).toMatchObject({ detailCode: 'missing_required' });
    const drawn = await draw([named, turn('Bob', answer('toString', 'Bob', 'Bob'))], schema);
    expect(drawn.kind === 'result' && Object.entries(drawn.result)).toEqual([
      ['constructor', 'Ana'],
      ['toString', 'Bob'],
    ]);
  });
});

const from = (extraction: Extraction): Extractor => ({ extract: () => Promise.resolve(extraction) });

describe('from any extractor', () => {
  const turns = [turn('Do you agree? Say yes.', null, 'bot'), turn('Sure thing.')];
  const drawn = (extraction: Extraction) => drawResult({ resultSchema, turns }, from(extraction), signal);
  const agreed = { value: true, turns: [1], quote: 'Sure' };

  it('a value whose quote nobody said is not used', async () => {
    for (const evidence of [
      { ...agreed, quote: 'Yes indeed' },
      { ...agreed, quote: '' },
      { ...agreed, turns: [] },
      { ...agreed, turns: [7] },
      { ...agreed, turns: [0], quote: 'yes' },
    ]) {
      expect(await drawn({ kind: 'fields', fields: { agreed: evidence } })).toMatchObject({
        detailCode: 'missing_required',
      });
    }
  });

  it('an undeclared field is refused, not dropped', async () => {
    for (const quote of ['Sure', 'never said']) {
      const fields = { agreed, admin: { ...agreed, quote } };
      expect(await drawn({ kind: 'fields', fields })).toMatchObject({
        code: 'result_invalid',
        detailCode: 'schema_mismatch',
      });
    }
  });

  it('a value of the wrong type is refused', async () => {
    const fields = { agreed: { ...agreed, value: 'yes' } };
    expect(await drawn({ kind: 'fields', fields })).toMatchObject({ detailCode: 'schema_mismatch' });
  });

  it('a failure is worth another try, and its note holds no spoken words', async () => {
    expect(await drawn({ kind: 'failed', note: 'http 503' })).toEqual({ kind: 'retry', note: 'http 503' });
    const throwing: Extractor = { extract: () => Promise.reject(new TypeError('Sure thing.')) };
    expect(await drawResult({ resultSchema, turns }, throwing, signal)).toEqual({
      kind: 'retry',
      note: 'TypeError',
    });
  });
});
