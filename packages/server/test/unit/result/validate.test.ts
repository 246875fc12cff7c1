import type { ResultSchema, ScalarProperty } from '@trunkcall/contract';
import { describe, expect, it } from 'vitest';
import { createResultValidator } from '../../../src/result/validate.ts';

const schema = (properties: Record<string, ScalarProperty>, required: string[] = []): ResultSchema => ({
  type: 'object',
  additionalProperties: false,
  properties,
  required,
});

const validator = createResultValidator();
const problems = (wanted: ResultSchema, result: unknown) => validator.problems(wanted, result);

describe('a result', () => {
  it('that keeps to its schema has no problems', () => {
    const wanted = schema({ a: { type: 'boolean' }, b: { type: 'integer', enum: [1, 2] } }, ['a']);
    expect(problems(wanted, { a: true })).toEqual([]);
    expect(problems(wanted, { a: false, b: 2 })).toEqual([]);
  });

  it('has its problems named by place, never with its values', () => {
    const wanted = schema(
      { a: { type: 'boolean' }, b: { type: 'string', enum: ['x'] }, c: { type: 'integer' } },
      ['a', 'c'],
    );
    const found = problems(wanted, { b: 'secret', c: 'hidden', 'd/e~f': 'private' });
    expect(found).toEqual([
      { pointer: '/a', problem: 'is required' },
      { pointer: '/d~1e~0f', problem: 'is not declared' },
      { pointer: '/b', problem: 'is none of the declared values' },
      { pointer: '/c', problem: 'must be integer' },
    ]);
    expect(JSON.stringify(found)).not.toMatch(/secret|hidden|private/);
  });

  it('does not inherit required fields from every object', () => {
    const named: [string, ScalarProperty][] = [
      ['constructor', { type: 'string' }],
      ['toString', { type: 'string' }],
    ];
    const wanted = schema(Object.fromEntries(named), ['constructor', 'toString']);
    expect(problems(wanted, {})).toEqual([
      { pointer: '/constructor', problem: 'is required' },
      { pointer: '/toString', problem: 'is required' },
    ]);
    expect(
      problems(
        wanted,
        Object.fromEntries([
          ['constructor', 'a'],
          ['toString', 'b'],
        ]),
      ),
    ).toEqual([]);
  });

  it('has at most twenty problems reported', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`x${index}`, 1]));
    expect(problems(schema({}), many)).toHaveLength(20);
  });
});

it('keeps working when more schemas come than it keeps compiled', () => {
  const small = createResultValidator(2);
  for (let round = 0; round < 3; round += 1) {
    for (let index = 0; index < 5; index += 1) {
      const wanted = schema({ [`f${index}`]: { type: 'string' } }, [`f${index}`]);
      expect(small.problems(wanted, { [`f${index}`]: 'x' })).toEqual([]);
      expect(small.problems(wanted, {})).toHaveLength(1);
    }
  }
});
