import { describe, expect, it } from 'vitest';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { apiErrors, openApiDocument, operatorOpenApiDocument, printableFormats } from '@trunkcall/contract';

type Node = Record<string, unknown>;

interface Document extends Node {
  readonly paths: Record<string, Record<string, Node>>;
  readonly components: { readonly schemas: Record<string, Node> };
}

const baseUrl = 'https://calls.example';
const document = openApiDocument({ baseUrl }) as Document;
const operatorDocument = operatorOpenApiDocument({ baseUrl }) as Document;
const documents = [
  ['the Developer API', document],
  ['the operator API', operatorDocument],
] as const;
const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** Every object in the document with its JSON pointer. */
function* nodes(value: unknown, pointer = '#'): Generator<[string, Node]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [pointer, value as Node];
  for (const [name, child] of Object.entries(value)) {
    yield* nodes(child, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  }
}

function resolve(document: Document, reference: string): unknown {
  const steps = reference
    .slice(2)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  return steps.reduce<unknown>((node, step) => (node as Node)[step], document);
}

const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) =>
      item[method] === undefined ? [] : [{ path, method, item, operation: item[method] }],
    ),
  );
const operations = operationsOf(document);

describe.each(documents)('the OpenAPI document of %s', (_name, document) => {
  it('is 3.1 and plain JSON', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', servers: [{ url: 'https://calls.example' }] });
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  });

  it('has no reference into the void and no $id that would move the base of one', () => {
    const all = [...nodes(document)];
    expect(all.filter(([, node]) => '$id' in node)).toEqual([]);
    const references = all.flatMap(([, node]) => (typeof node['$ref'] === 'string' ? [node['$ref']] : []));
    expect(references.length).toBeGreaterThan(40);
    expect(references.filter((reference) => resolve(document, reference) === undefined)).toEqual([]);
  });

  it('declares each parameter of each path, once', () => {
    for (const { path, item, operation } of operationsOf(document)) {
      const declared = [item['parameters'], operation['parameters']]
        .flat()
        .filter((one) => one !== undefined) as Node[];
      const inPath = declared
        .filter((parameter) => parameter['in'] === 'path')
        .map((parameter) => parameter['name']);
      expect(inPath).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
      expect(
        declared.every((parameter) => parameter['in'] !== 'path' || parameter['required'] === true),
      ).toBe(true);
    }
  });

  it('has schemas that a validator compiles, and examples that satisfy them', () => {
    const ajv = new Ajv2020({
      strict: false,
      formats: { 'date-time': true, date: true, ...printableFormats },
    });
    ajv.addSchema({ $id: 'doc', components: document.components });
    const checked = [...nodes(document.paths)].flatMap(([pointer, { schema, examples = {} }]) => {
      if (schema === undefined) return [];
      const validate = ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"doc#/')) as Node);
      const values = Object.values(examples as Record<string, { value: unknown }>);
      return values.map(({ value }) => ({ pointer, errors: validate(value) ? null : validate.errors }));
    });
    expect(checked.length).toBeGreaterThan(40);
    expect(checked.filter(({ errors }) => errors !== null)).toEqual([]);
  });

  it('names each operation and component once', () => {
    const names = operationsOf(document).map(({ operation }) => operation['operationId']);
    expect(new Set(names).size).toBe(names.length);
    const text = JSON.stringify(document);
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !text.includes(`"#/components/schemas/${name}"`),
    );
    expect(unused).toEqual([]);
  });
});

describe('the OpenAPI document of the Developer API', () => {
  it('has the operations of the contract, each with an id of its own', () => {
    const names = operations.map(({ path, method }) => `${method} ${path}`);
    expect(names).toEqual([
      'get /v1/goals',
      'get /v1/goals/{goal_id}',
      'post /v1/goals/{goal_id}/runs',
      'get /v1/goals/{goal_id}/runs/{goal_run_id}',
      'post /v2/calls',
      'get /v2/calls/{call_id}',
      'get /v2/calls/{call_id}/events',
      'post /v2/calls/{call_id}/cancel',
      'post /v1/calls',
      'get /v1/calls/{call_id}',
      'get /v1/calls/{call_id}/events',
      'get /livez',
      'get /readyz',
    ]);
    const deprecated = operations.filter(({ operation }) => operation['deprecated'] === true);
    expect(deprecated.map(({ path }) => path).every((path) => path.startsWith('/v1/calls'))).toBe(true);
    expect(deprecated).toHaveLength(3);
  });

  it('names, for each operation, a response for every status that its errors can have', () => {
    for (const { path, operation } of operations) {
      const statuses = Object.keys(operation['responses'] as Node);
      const always = ['400', '405', '408', '431', '500', '502', '503'];
      const withKey = /^\/v\d/.test(path) ? ['401', '403', '429'] : [];
      expect(statuses).toEqual(expect.arrayContaining([...always, ...withKey]));
    }
    const create = operations.find(({ method }) => method === 'post')?.operation['responses'] as Node;
    expect(Object.keys(create)).toEqual(expect.arrayContaining(['201', '404', '409', '413', '422']));
    const text = JSON.stringify(document.paths);
    const missing = Object.keys(apiErrors).filter((code) => !text.includes(`\`${code}\``));
    const operatorText = JSON.stringify(operatorDocument.paths);
    const nowhere = missing.filter((code) => !operatorText.includes(`\`${code}\``));
    // Two people who edit one draft meet, and a call is listened to, in the console alone.
    expect(nowhere.toSorted()).toEqual(['edit_conflict', 'listening_not_possible']);
  });

  it('describes every field of every schema', () => {
    const fields = Object.entries(document.components.schemas).flatMap(([name, { properties }]) =>
      Object.entries(properties as Record<string, Node>).map(([field, node]) => ({ name, field, node })),
    );
    const bare = fields.filter(({ node }) => node['description'] === undefined && node['$ref'] === undefined);
    // What is in an envelope is described inside.
    expect(bare.map(({ name, field }) => `${name}.${field}`)).toEqual(['Error.error']);
  });
});
