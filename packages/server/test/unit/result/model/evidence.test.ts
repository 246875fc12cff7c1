import type { CallSchema } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import { readAnswer, toStrict } from '../../../../src/platform/chat/answer-schema.ts';
import { claimsIn, claimsSchema, pathOf } from '../../../../src/result/model/evidence.ts';

const schema: CallSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    free: { type: 'boolean', description: 'Are you free?' },
    tags: { type: 'array', items: { type: 'string' } },
    'odd/one': {
      type: 'object',
      additionalProperties: false,
      required: ['día'],
      properties: {
        día: { type: 'string', enum: ['mon', 'tue'], description: 'Which day?' },
        visits: {
          type: 'array',
          items: {
            type: 'object',
            additionalProperties: false,
            properties: { at: { type: 'integer' } },
            required: ['at'],
          },
        },
      },
    },
  },
  required: ['free'],
};
const claim = (value: unknown) => ({ value, recipient: 0, turns: [1], quote: 'so', confidence: 1 });

describe('the claims that a schema asks for', () => {
  it('have its shape, and the names of an object that has odd ones are numbered', () => {
    const asked = claimsSchema(schema, 1);
    expect(Object.keys(asked.properties)).toEqual(['field_1', 'field_2', 'field_3']);
    expect(asked.properties['field_1']?.description).toBe('free: Are you free?');
    const plain = claimsSchema({ ...schema, properties: { free: { type: 'boolean' } } }, null);
    expect(Object.keys(plain.properties)).toEqual(['free']);
    expect(JSON.stringify(toStrict(plain))).not.toContain('recipient');
  });

  it('are found again with their paths', () => {
    const answer = {
      field_1: claim(true),
      field_2: [claim('a'), claim('b')],
      field_3: { field_1: claim('tue'), field_2: [{ at: claim(9) }, { at: null }, { at: claim(11) }] },
    };
    const reading = readAnswer(claimsSchema(schema, 1), answer);
    if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
    const found = claimsIn(schema, reading.value, '/fields');
    expect(found.map(({ tokens, pointer, claim: { value } }) => [pathOf(tokens), pointer, value])).toEqual([
      ['free', '/fields/field_1', true],
      ['tags/0', '/fields/field_2/0', 'a'],
      ['tags/1', '/fields/field_2/1', 'b'],
      ['odd~1one/día', '/fields/field_3/field_1', 'tue'],
      ['odd~1one/visits/0/at', '/fields/field_3/field_2/0/at', 9],
      ['odd~1one/visits/2/at', '/fields/field_3/field_2/2/at', 11],
    ]);
  });

  it('may all be left out', () => {
    expect(readAnswer(claimsSchema(schema, 1), {})).toEqual({ ok: true, value: {} });
  });
});
