import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readCallSchema, readOneShotSchema } from '../../../src/acceptance/call-schema.ts';

const read = (value: unknown) => readCallSchema(value, 'result');
const object = (properties: Record<string, unknown>, others: Record<string, unknown> = {}) => ({
  type: 'object',
  properties,
  ...others,
});
const problemsOf = (value: unknown) => {
  const reading = read(value);
  return reading.ok ? [] : reading.problems;
};
const nested = (levels: number): unknown =>
  levels === 1 ? { type: 'object' } : object({ inner: nested(levels - 1) });

describe('a call schema', () => {
  it('that uses everything supported is read in normal form', () => {
    const sent = object(
      {
        day: { type: 'string', description: 'Which day?', enum: ['monday', 'friday'] },
        party: { type: 'integer' },
        price: { type: 'number', enum: [1.5, 2] },
        paid: { type: 'boolean' },
        tags: { type: 'array', items: { type: 'string' } },
        address: object({ city: { type: 'string' } }, { required: ['city'], description: 'Where to' }),
        items: { type: 'array', description: 'Lines', items: object({ sku: { type: 'string' } }) },
      },
      { required: ['day'], additionalProperties: false },
    );
    const strict = { additionalProperties: false };
    expect(read(sent)).toEqual({
      ok: true,
      schema: {
        ...sent,
        properties: {
          ...sent.properties,
          address: { ...(sent.properties['address'] as object), ...strict },
          items: {
            type: 'array',
            description: 'Lines',
            items: object({ sku: { type: 'string' } }, { ...strict, required: [] }),
          },
        },
      },
    });
  });

  it('without additionalProperties and required is closed and requires nothing', () => {
    expect(read({ type: 'object' })).toEqual({
      ok: true,
      schema: { type: 'object', properties: {}, required: [], additionalProperties: false },
    });
  });

  const a = (property: unknown) => object({ a: property });
  it.each([
    ['a reference', a({ $ref: '#' }), '/properties/a/$ref', '$ref'],
    ['oneOf', a({ oneOf: [] }), '/properties/a/oneOf', 'oneOf'],
    ['anyOf', a({ type: 'string', anyOf: [] }), '/properties/a/anyOf', 'anyOf'],
    ['allOf', { ...a({ type: 'string' }), allOf: [] }, '/allOf', 'allOf'],
    ['a format', a({ type: 'string', format: 'date' }), '/properties/a/format', 'format'],
    ['a pattern', a({ type: 'string', pattern: 'x' }), '/properties/a/pattern', 'pattern'],
    ['a default', a({ type: 'string', default: 'x' }), '/properties/a/default', 'default'],
    ['const', a({ type: 'string', const: 'x' }), '/properties/a/const', 'const'],
    ['bounds', a({ type: 'integer', minimum: 1 }), '/properties/a/minimum', 'minimum'],
    ['definitions', { ...a({ type: 'string' }), $defs: {} }, '/$defs', '$defs'],
    ['a schema version', { ...a({ type: 'string' }), $schema: 'x' }, '/$schema', '$schema'],
    ['a list of types', a({ type: ['string', 'null'] }), '/properties/a/type', 'type'],
    ['the null type', a({ type: 'null' }), '/properties/a/type', 'type'],
    ['no type', a({ enum: ['x'] }), '/properties/a', 'type'],
    ['a type from Object.prototype', a({ type: 'toString' }), '/properties/a/type', 'type'],
    ['a boolean schema', a(true), '/properties/a', 'object'],
    [
      'open objects',
      a({ type: 'object', additionalProperties: true }),
      '/properties/a/additionalProperties',
      'false',
    ],
    [
      'schemas of the rest',
      { ...a({ type: 'string' }), additionalProperties: { type: 'string' } },
      '/additionalProperties',
      'false',
    ],
    ['a tuple', a({ type: 'array', items: [{ type: 'string' }] }), '/properties/a/items', 'one schema'],
    [
      'prefixItems',
      a({ type: 'array', items: { type: 'string' }, prefixItems: [] }),
      '/properties/a/prefixItems',
      'prefixItems',
    ],
    ['a list of anything', a({ type: 'array' }), '/properties/a/items', 'one schema'],
    [
      'lists of lists',
      a({ type: 'array', items: { type: 'array', items: { type: 'string' } } }),
      '/properties/a/items/type',
      'list',
    ],
    [
      'an enum of a list',
      a({ type: 'array', items: { type: 'string' }, enum: [] }),
      '/properties/a/enum',
      'enum',
    ],
    ['an empty enum', a({ type: 'string', enum: [] }), '/properties/a/enum', '1 to 100'],
    [
      'a long enum',
      a({ type: 'integer', enum: Array.from({ length: 101 }, (_, i) => i) }),
      '/properties/a/enum',
      '1 to 100',
    ],
    [
      'an enum member of another type',
      a({ type: 'integer', enum: [1, 1.5] }),
      '/properties/a/enum/1',
      'integer',
    ],
    ['a null in an enum', a({ type: 'string', enum: ['a', null] }), '/properties/a/enum/1', 'string'],
    ['an enum member twice', a({ type: 'string', enum: ['a', 'a'] }), '/properties/a/enum/1', 'twice'],
    [
      'a description that is no text',
      a({ type: 'string', description: 1 }),
      '/properties/a/description',
      'string',
    ],
    [
      'a required name that is not declared',
      { ...a({ type: 'string' }), required: ['b'] },
      '/required/0',
      'declared',
    ],
    ['a name required twice', { ...a({ type: 'string' }), required: ['a', 'a'] }, '/required/1', 'twice'],
    ['required as a flag', { ...a({ type: 'string' }), required: true }, '/required', 'list'],
    ['properties as a list', { type: 'object', properties: [] }, '/properties', 'object'],
    ['a name without characters', object({ '': { type: 'string' } }), '/properties', '1 to 64'],
    ['a name of 65 characters', object({ ['x'.repeat(65)]: { type: 'string' } }), '/properties', '1 to 64'],
    [
      'a name that every object has',
      object({ constructor: { type: 'string' } }),
      '/properties/constructor',
      'name',
    ],
    [
      'a name that changes objects',
      JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
      '/properties/__proto__',
      'name',
    ],
    ['a root that is a list', { type: 'array', items: { type: 'string' } }, '/type', 'root'],
    ['a root that is a scalar', { type: 'string' }, '/type', 'root'],
    ['something else than a schema', 'object', '', 'object'],
    ['pointers with escapes', object({ 'a/b~c': { type: 'date' } }), '/properties/a~1b~0c/type', 'type'],
  ])('does not know %s', (_, schema, pointer, named) => {
    expect(problemsOf(schema)).toContainEqual({ pointer, problem: expect.stringContaining(named) as string });
  });

  it('has at most ten levels', () => {
    expect(read(nested(10))).toMatchObject({ ok: true });
    expect(problemsOf(nested(11))).toEqual([
      { pointer: '/properties/inner'.repeat(10), problem: expect.stringContaining('10 levels') as string },
    ]);
  });

  it('has at most 500 properties in all', () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, { type: 'string' }]));
    expect(read(object({ ...many(249), inner: object(many(250)) }))).toMatchObject({ ok: true });
    expect(problemsOf(object({ ...many(249), inner: object(many(251)) }))).toEqual([
      { pointer: '/properties/inner/properties', problem: expect.stringContaining('500') as string },
    ]);
  });

  it('has at most 64 KiB of JSON', () => {
    const described = (length: number) => a({ type: 'string', description: 'é'.repeat(length) });
    expect(read(described(32_000))).toMatchObject({ ok: true });
    expect(problemsOf(described(33_000))).toEqual([
      { pointer: '', problem: expect.stringContaining('65536') as string },
    ]);
  });

  it('has at most twenty problems reported, and odd keywords are not repeated', () => {
    const bad = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`p${index}`, null]));
    expect(problemsOf(object(bad))).toHaveLength(20);
    const odd = problemsOf({ type: 'object', '+14155550132': 1 });
    expect(JSON.stringify(odd)).not.toContain('4155550132');
    expect(odd).toHaveLength(1);
  });

  it('of recipients may not use names that a recipient has, but only at the root', () => {
    for (const name of ['summary', 'status', 'transcript', 'call_id', 'started_at', 'duration_seconds']) {
      const schema = object({ [name]: { type: 'string' } });
      expect(read(schema)).toMatchObject({ ok: true });
      expect(readCallSchema(schema, 'recipient_result')).toEqual({
        ok: false,
        problems: [
          { pointer: `/properties/${name}`, problem: expect.stringContaining('reserved') as string },
        ],
      });
      expect(readCallSchema(object({ inner: schema }), 'recipient_result')).toMatchObject({ ok: true });
    }
  });
});

describe('a one-shot schema', () => {
  it('is a closed object of scalars', () => {
    const schema = object({ agreed: { type: 'boolean', description: 'Agreed?' } }, { required: ['agreed'] });
    expect(readOneShotSchema(schema)).toEqual({
      ok: true,
      schema: { ...schema, additionalProperties: false },
    });
  });

  it('has no objects and no lists', () => {
    const schema = object({ a: object({}), b: { type: 'array', items: { type: 'string' } } });
    expect(readOneShotSchema(schema)).toMatchObject({
      ok: false,
      problems: [{ pointer: '/properties/a/type' }, { pointer: '/properties/b/type' }],
    });
  });

  it('has at most 32 properties', () => {
    const many = (count: number) =>
      object(Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { type: 'string' }])));
    expect(readOneShotSchema(many(32))).toMatchObject({ ok: true });
    expect(readOneShotSchema(many(33))).toMatchObject({ ok: false, problems: [{ pointer: '/properties' }] });
  });
});

const scalars = fc.constantFrom('string', 'integer', 'number', 'boolean');
const names = ['a', 'b/c', 'toString', 'd~'];

/** JSON that looks enough like a schema to get far; now and then something is wrong with it. */
const { node: anyNode, object: anyObject } = fc.letrec<{ node: unknown; object: unknown }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    {
      weight: 6,
      arbitrary: fc.record({ type: scalars, description: fc.string() }, { requiredKeys: ['type'] }),
    },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('integer'), enum: fc.uniqueArray(fc.integer()) }) },
    { weight: 1, arbitrary: fc.record({ type: scalars, enum: fc.array(fc.jsonValue({ maxDepth: 1 })) }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('array'), items: tie('node') }) },
    { weight: 4, arbitrary: tie('object') },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  ),
  object: fc.record(
    {
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom(...names, 'summary'), tie('node'), { maxKeys: 4 }),
      required: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray(names)),
      additionalProperties: fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true)),
    },
    { requiredKeys: ['type', 'properties'] },
  ),
}));
const schemaLike = fc.oneof({ weight: 4, arbitrary: anyObject }, anyNode);

const compiles = (schema: object) =>
  new Ajv2020({ strict: true, ownProperties: true, strictRequired: true }).compile(schema);

describe('for any JSON', () => {
  it('a reading never throws, and what is accepted compiles strictly', () => {
    let accepted = 0;
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), schemaLike), (value) => {
        for (const reading of [
          read(value),
          readCallSchema(value, 'recipient_result'),
          readOneShotSchema(value),
        ]) {
          if (reading.ok) {
            accepted += 1;
            compiles(reading.schema);
          }
          expect(reading.ok || reading.problems.length > 0).toBe(true);
        }
      }),
      { numRuns: 200, seed: 1 },
    );
    expect(accepted).toBeGreaterThan(50);
  });

  it('what is accepted is accepted again, unchanged', () => {
    fc.assert(
      fc.property(schemaLike, (value) => {
        const once = read(value);
        expect(once.ok ? read(once.schema) : once).toEqual(once);
      }),
      { numRuns: 500, seed: 2 },
    );
  });

  it('depth does no harm', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = { type: 'object', enum: deep, items: deep };
    expect(read(deep)).toMatchObject({ ok: false });
    expect(read({ type: 'array', items: deep })).toMatchObject({ ok: false });
  });
});
