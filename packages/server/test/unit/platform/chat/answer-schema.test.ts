import { describe, expect, it } from 'vitest';
import { readAnswer, toStrict, type AnswerSchema } from '../../../../src/platform/chat/answer-schema.ts';

const schema: AnswerSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 3, description: 'Who.' },
    size: { type: 'integer', minimum: 0, maximum: 9 },
    mood: { type: 'string', enum: ['good', 'bad'] },
    sure: { type: 'number' },
    tags: { type: 'array', items: { type: 'boolean' }, maxItems: 2 },
    home: { type: 'object', properties: { city: { type: 'string' } }, required: [] },
  },
  required: ['name', 'tags'],
};
const least = { name: 'Ada', tags: [] };

describe('the strict form of a schema', () => {
  it('requires everything, makes the optional nullable, closes every object and drops bounds', () => {
    expect(toStrict(schema)).toEqual({
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Who.' },
        size: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
        mood: { anyOf: [{ type: 'string', enum: ['good', 'bad'] }, { type: 'null' }] },
        sure: { anyOf: [{ type: 'number' }, { type: 'null' }] },
        tags: { type: 'array', items: { type: 'boolean' } },
        home: {
          anyOf: [
            {
              type: 'object',
              properties: { city: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
              required: ['city'],
              additionalProperties: false,
            },
            { type: 'null' },
          ],
        },
      },
      required: ['name', 'size', 'mood', 'sure', 'tags', 'home'],
      additionalProperties: false,
    });
  });
});

describe('an answer', () => {
  it('is read without what is null or left out', () => {
    const sent = { ...least, size: null, mood: 'good', home: { city: null } };
    expect(readAnswer(schema, sent)).toEqual({ ok: true, value: { ...least, mood: 'good', home: {} } });
  });

  it.each<[string, unknown, string]>([
    ['no object', [], ''],
    ['nothing', undefined, ''],
    ['null for what is required', { ...least, name: null }, '/name'],
    ['left out what is required', { tags: [] }, '/name'],
    ['undeclared', { ...least, admin: true }, '/admin'],
    ['a prototype', JSON.parse('{"name":"Ada","tags":[],"__proto__":{"a":1}}'), '/__proto__'],
    ['too long', { ...least, name: 'Adam' }, '/name'],
    ['too small', { ...least, size: -1 }, '/size'],
    ['too large', { ...least, size: 10 }, '/size'],
    ['no integer', { ...least, size: 1.5 }, '/size'],
    ['a number in words', { ...least, size: '1' }, '/size'],
    ['no number', { ...least, sure: Infinity }, '/sure'],
    ['no member', { ...least, mood: 'fine' }, '/mood'],
    ['no list', { ...least, tags: {} }, '/tags'],
    ['too many items', { ...least, tags: [true, true, true] }, '/tags'],
    ['a wrong item', { ...least, tags: [true, 'yes'] }, '/tags/1'],
    ['a wrong object below', { ...least, home: 'Rome' }, '/home'],
  ])('is refused with the place: %s', (_, sent, pointer) => {
    const reading = readAnswer(schema, sent);
    expect(reading.ok ? [] : reading.problems.map((problem) => problem.pointer)).toEqual([pointer]);
  });

  it('has at most twenty problems', () => {
    const names = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`x${index}`, 1]));
    const reading = readAnswer(schema, { ...least, ...names });
    expect(reading.ok ? [] : reading.problems).toHaveLength(20);
  });
});
