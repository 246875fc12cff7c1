import type { CallSchema, CallSchemaNode, Scalar } from '@trunkcall/contract';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assemble, isPathIn, leavesOf, questionsOf } from '../../../src/calls/fields.ts';
import { splitList } from '../../../src/calls/lists.ts';
import { createResultValidator } from '../../../src/result/validate.ts';

const object = (
  properties: Readonly<Record<string, CallSchemaNode>>,
  required: readonly string[] = [],
  description?: string,
): CallSchema => ({
  type: 'object',
  ...(description === undefined ? {} : { description }),
  properties,
  required,
  additionalProperties: false,
});
const text = { type: 'string' } as const;

describe('the path of a value', () => {
  const schema = object({
    name: text,
    'a/b~': object({ city: text }),
    tags: { type: 'array', items: text },
    visits: { type: 'array', items: object({ who: text, tags: { type: 'array', items: text } }, ['who']) },
  });

  it('is that of a leaf, or of something in a list', () => {
    for (const path of [
      'name',
      'a~1b~0/city',
      'tags',
      'tags/0',
      'visits/12/who',
      'visits/0/tags',
      'visits/0/tags/3',
    ])
      expect([path, isPathIn(schema, path)]).toEqual([path, true]);
  });

  it('is no other', () => {
    for (const path of [
      '',
      'other',
      'a~1b~0',
      'name/0',
      'tags/x',
      'tags/-1',
      'visits',
      'visits/0',
      'visits/0/when',
      'toString',
    ])
      expect([path, isPathIn(schema, path)]).toEqual([path, false]);
  });

  it('builds the items of a list in the order of their indexes, without gaps and without what lacks something', () => {
    const values = new Map<string, Scalar>([
      ['visits/10/who', 'Cyd'],
      ['visits/2/who', 'Bob'],
      ['visits/2/tags/1', 'late'],
      ['visits/1/tags/0', 'nobody'],
      ['tags/0', 'one, two'],
    ]);
    expect(assemble(schema, values)).toEqual({
      tags: ['one, two'],
      visits: [{ who: 'Bob', tags: ['late'] }, { who: 'Cyd' }],
    });
  });
});

describe('the leaves of a schema', () => {
  it('are its scalars and lists of scalars, in order, by path', () => {
    const schema = object(
      {
        name: text,
        address: object({ city: text, zip_code: { type: 'integer' } }, ['city']),
        tags: { type: 'array', items: text },
        lines: { type: 'array', items: object({ sku: text }) },
      },
      ['name', 'address'],
    );
    expect(leavesOf(schema).map(({ path, required }) => [path, required])).toEqual([
      ['name', true],
      ['address/city', true],
      ['address/zip_code', false],
      ['tags', false],
    ]);
  });

  it('are required only if all that they stand in is', () => {
    const schema = object({ a: object({ b: object({ c: text }, ['c']) }, ['b']) });
    expect(leavesOf(schema)).toMatchObject([{ path: 'a/b/c', required: false }]);
  });

  it('are asked as at the root: by their description, or by their name', () => {
    const day = { type: 'string', description: 'Which day?', enum: ['monday'] } as const;
    expect(leavesOf(object({ day, name: text }))).toMatchObject([{ property: day }, { property: text }]);
    expect(leavesOf(object({ name: text }))[0]?.property).toEqual(text);
  });

  it('say what they belong to', () => {
    const inner = object(
      { city: { ...text, description: 'which city?' }, zip_code: text },
      [],
      'Delivery address.',
    );
    const properties = leavesOf(object({ address: inner, fallback_address: object({ zipCode: text }) }));
    expect(properties.map(({ property }) => property.description)).toEqual([
      'Delivery address, which city?',
      'Delivery address, zip code',
      'fallback address, zip Code',
    ]);
  });

  it('that are lists are asked as text, with their options', () => {
    const days = {
      type: 'array',
      description: 'Which days?',
      items: { ...text, enum: ['mon_day', 'friday'] },
    } as const;
    const ages = { type: 'array', items: { type: 'integer' } } as const;
    expect(leavesOf(object({ days, ages })).map(({ property }) => property)).toEqual([
      { type: 'string', description: 'Which days? (mon day, friday)' },
      { type: 'string' },
    ]);
  });

  it('have no description of more than 1,000 characters', () => {
    const long = { ...text, description: 'x'.repeat(900) };
    const [leaf] = leavesOf(object({ a: object({ b: long }, [], 'y'.repeat(900)) }));
    expect(leaf?.property.description).toHaveLength(1_000);
  });

  it('keep apart what pointers escape', () => {
    const schema = object({ 'a/b': text, a: object({ b: text }), '~': text });
    expect(leavesOf(schema).map(({ path }) => path)).toEqual(['a~1b', 'a/b', '~0']);
  });
});

describe('assembling', () => {
  const build = (schema: CallSchema, values: Record<string, Scalar>) =>
    assemble(schema, new Map(Object.entries(values)));

  it('leaves out what is optional and has no value', () => {
    const schema = object({ a: text, b: object({ c: text }), d: { type: 'array', items: text } });
    expect(build(schema, {})).toEqual({});
    expect(build(schema, { 'b/c': 'x' })).toEqual({ b: { c: 'x' } });
    expect(build(schema, { d: ' , ' })).toEqual({});
  });

  it('builds what is required and needs no value', () => {
    const list = { type: 'array', items: object({ c: text }, ['c']) } as const;
    const schema = object({ a: object({ tags: { type: 'array', items: text } }, ['tags']), list }, [
      'a',
      'list',
    ]);
    expect(build(schema, {})).toEqual({ a: { tags: [] }, list: [] });
  });

  it('says unknown where that is an answer and one is required', () => {
    const mood = { type: 'string', enum: ['good', 'unknown'] } as const;
    expect(build(object({ mood }, ['mood']), {})).toEqual({ mood: 'unknown' });
    expect(build(object({ mood }), {})).toEqual({});
  });

  it('gives nothing when something required is missing', () => {
    expect(build(object({ a: text }, ['a']), {})).toBeNull();
    expect(build(object({ a: object({ b: text }, ['b']) }, ['a']), {})).toBeNull();
  });

  it('leaves out an optional object that lacks something', () => {
    const schema = object({ a: object({ b: text, c: text }, ['b']), d: text });
    expect(build(schema, { 'a/c': 'x', d: 'y' })).toEqual({ d: 'y' });
  });

  it('knows names that every object has', () => {
    const schema = object({ toString: text, valueOf: text }, ['toString']);
    expect(build(schema, {})).toBeNull();
    expect(Object.entries(build(schema, { toString: 'x' }) ?? {})).toEqual([['toString', 'x']]);
  });
});

describe('a list', () => {
  it.each<[Scalar, Parameters<typeof splitList>[1], Scalar[]]>([
    ['milk, bread and butter', text, ['milk', 'bread', 'butter']],
    ['leche, pan y huevos', text, ['leche', 'pan', 'huevos']],
    ['bread, and butter', text, ['bread', 'butter']],
    ['andalusian sherry', text, ['andalusian sherry']],
    ['1, 2 and 3.5', { type: 'number' }, [1, 2, 3.5]],
    ['1,5', { type: 'number' }, [1.5]],
    ['1, 2.5, many', { type: 'integer' }, [1]],
    ['yes, no', { type: 'boolean' }, [true, false]],
    [
      'Monday, Wednesday and Friday.',
      { ...text, enum: ['monday', 'friday', 'wednesday'] },
      ['monday', 'wednesday', 'friday'],
    ],
    ['salt and pepper and oil', { ...text, enum: ['salt_and_pepper', 'oil'] }, ['salt_and_pepper', 'oil']],
    ['Monday but not Friday', { ...text, enum: ['monday', 'friday'] }, []],
    ['Monday, Monday', { ...text, enum: ['monday'] }, ['monday']],
    ['1, 2', { type: 'integer', enum: [1, 2] }, [1, 2]],
    [7, { type: 'integer' }, [7]],
    ['', text, []],
    [' , ', text, []],
  ])('is split: %j', (answer, items, list) => {
    expect(splitList(answer, items)).toEqual(list);
  });

  it('has at most a hundred items', () => {
    expect(splitList(Array.from({ length: 200 }, (_, i) => `w${i}`).join(', '), text)).toHaveLength(100);
  });
});

describe('the questions of a call', () => {
  const recipient = object({ day: { ...text, description: 'Your day?' }, note: text }, ['day']);
  const whole = object({ day: { ...text, description: 'The day?' }, price: { type: 'number' } }, ['price']);

  it('are those of both schemas; where both have one, the recipient’s', () => {
    expect(questionsOf(recipient, whole)).toEqual({
      type: 'object',
      additionalProperties: false,
      properties: {
        day: { type: 'string', description: 'Your day?' },
        note: text,
        price: { type: 'number' },
      },
      required: ['day', 'price'],
    });
    expect(Object.keys(questionsOf(null, whole).properties)).toEqual(['day', 'price']);
    expect(Object.keys(questionsOf(recipient, null).properties)).toEqual(['day', 'note']);
  });

  it('are whether there is a message when nothing in particular is wanted', () => {
    for (const schema of [null, object({}), object({ lines: { type: 'array', items: object({}) } })]) {
      expect(questionsOf(schema, null)).toMatchObject({
        properties: { reply: { type: 'string', description: expect.stringContaining('message') } },
        required: [],
      });
    }
    expect(questionsOf(null, null, 'es-MX').properties['reply']?.description).toContain('mensaje');
  });
});

const word = fc.stringMatching(/^[a-z]{3,8}$/).filter((name) => !['and', 'und', 'oder'].includes(name));
const names = fc.constantFrom('a', 'b/c', 'd~', 'toString', 'camelCase', 'é');

interface Sample {
  readonly node: CallSchemaNode;
  /** A value of it; undefined to leave it out. */
  readonly value: unknown;
}

/** A schema and something that a conversation can make of it. */
const { object: anyObject } = fc.letrec<{ sample: Sample; object: Sample }>((tie) => ({
  sample: fc.oneof(
    { maxDepth: 3 },
    word.map((value): Sample => ({ node: { type: 'string' }, value })),
    fc.integer().map((value): Sample => ({ node: { type: 'integer' }, value })),
    fc.boolean().map((value): Sample => ({ node: { type: 'boolean' }, value })),
    fc
      .double({ noNaN: true, noDefaultInfinity: true })
      .map((value): Sample => ({ node: { type: 'number' }, value })),
    fc
      .array(word, { minLength: 1, maxLength: 5 })
      .map((value): Sample => ({ node: { type: 'array', items: text }, value })),
    fc
      .array(fc.integer(), { minLength: 1 })
      .map((value): Sample => ({ node: { type: 'array', items: { type: 'integer' } }, value })),
    tie('object'),
  ),
  object: fc
    .dictionary(names, fc.tuple(tie('sample'), fc.boolean(), fc.boolean()), { minKeys: 1, maxKeys: 4 })
    .map((fields): Sample => {
      const entries = Object.entries(fields);
      const given = entries.filter(([, [, required, filled]]) => required || filled);
      return {
        node: object(
          Object.fromEntries(entries.map(([name, [{ node }]]) => [name, node])),
          entries.filter(([, [, required]]) => required).map(([name]) => name),
        ),
        value: Object.fromEntries(given.map(([name, [{ value }]]) => [name, value])),
      };
    }),
}));
const isFilled = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || Array.isArray(value) || Object.values(value).some(isFilled);

/** Optional objects in which nothing was said are left out. */
function canonical(node: CallSchemaNode, value: unknown): unknown {
  if (node.type !== 'object') return value;
  const kept = Object.entries(value as object).filter(
    ([name, child]) => node.required.includes(name) || isFilled(child),
  );
  return Object.fromEntries(
    kept.map(([name, child]) => [name, canonical(node.properties[name] ?? text, child)]),
  );
}

/** What stands at a path; a list as somebody would say it. */
function at(value: unknown, path: string): Scalar | undefined {
  const tokens = path.split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  const found = tokens.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? (inner as Record<string, unknown>)[name]
        : undefined,
    value,
  );
  return Array.isArray(found) ? found.join(', ') : (found as Scalar | undefined);
}

it('what was taken apart into leaves is assembled to the same, and valid', () => {
  const validator = createResultValidator();
  fc.assert(
    fc.property(anyObject, ({ node, value }) => {
      if (node.type !== 'object') return;
      const values = leavesOf(node).flatMap(({ path }): [string, Scalar][] => {
        const found = at(value, path);
        return found === undefined ? [] : [[path, found]];
      });
      const result = assemble(node, new Map(values));
      expect(result).toEqual(canonical(node, value));
      expect(validator.problems(node, result)).toEqual([]);
    }),
    { numRuns: 300, seed: 4 },
  );
});
