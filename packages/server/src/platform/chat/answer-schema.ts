/**
 * What a model is to answer: a small part of JSON Schema, its form for providers, and the way back.
 *
 * Providers enforce a strict subset alone: every object closed, every property required, no bounds. So what is
 * optional is sent as required but nullable, bounds stay here, and an answer is read under the original.
 */
import type { Scalar } from '@trunkcall/contract';
import { cut } from '../cut.ts';
import { below } from '../json-pointer.ts';

interface Described {
  readonly description?: string;
}

export interface ScalarAnswer extends Described {
  readonly type: 'string' | 'number' | 'integer' | 'boolean';
  readonly enum?: readonly Scalar[];
  /** Of a number, inclusive. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** Of a string, UTF-16 units. */
  readonly maxLength?: number;
}

export interface ListAnswer extends Described {
  readonly type: 'array';
  readonly items: AnswerSchema;
  readonly maxItems: number;
}

/** Closed: what is not declared is refused. */
export interface ObjectAnswer extends Described {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, AnswerSchema>>;
  /** The others may be left out, or be null. */
  readonly required: readonly string[];
}

export type AnswerSchema = ScalarAnswer | ListAnswer | ObjectAnswer;

type Json = Readonly<Record<string, unknown>>;

/** The schema in the subset that providers enforce. */
export function toStrict(schema: AnswerSchema): Record<string, unknown> {
  const described = schema.description === undefined ? {} : { description: schema.description };
  switch (schema.type) {
    case 'object': {
      const properties = Object.entries(schema.properties).map(([name, property]) => [
        name,
        schema.required.includes(name) ? toStrict(property) : nullable(property),
      ]);
      return {
        type: 'object',
        ...described,
        properties: Object.fromEntries(properties) as Json,
        required: Object.keys(schema.properties),
        additionalProperties: false,
      };
    }
    case 'array':
      return { type: 'array', ...described, items: toStrict(schema.items) };
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
      return {
        type: schema.type,
        ...described,
        ...(schema.enum === undefined ? {} : { enum: [...schema.enum] }),
      };
  }
}

function nullable(schema: AnswerSchema): Json {
  return { anyOf: [toStrict(schema), { type: 'null' }] };
}

/** What is wrong at a place of an answer. It is told to the model alone: a name may be of its making. */
export interface AnswerProblem {
  /** JSON Pointer (RFC 6901). */
  readonly pointer: string;
  readonly problem: string;
}

export type AnswerReading =
  | { readonly ok: true; readonly value: unknown }
  /** At least one, at most 20. */
  | { readonly ok: false; readonly problems: readonly AnswerProblem[] };

const maxProblems = 20;
const maxNameLength = 100;

/** Reads an answer under the original schema; what is optional and null is left out. Pure. Throws: never. */
export function readAnswer(schema: AnswerSchema, sent: unknown): AnswerReading {
  const problems: AnswerProblem[] = [];
  const report: Report = (pointer, problem) => {
    if (problems.length < maxProblems) problems.push({ pointer, problem });
  };
  const value = read(schema, sent, '', report);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value };
}

type Report = (pointer: string, problem: string) => void;

/** What it returns is of use only when nothing was reported. */
function read(schema: AnswerSchema, sent: unknown, pointer: string, report: Report): unknown {
  switch (schema.type) {
    case 'object':
      return readObject(schema, sent, pointer, report);
    case 'array':
      if (!Array.isArray(sent)) report(pointer, 'must be a list');
      else if (sent.length > schema.maxItems) report(pointer, `has more than ${schema.maxItems} items`);
      else return sent.map((item: unknown, index) => read(schema.items, item, below(pointer, index), report));
      return [];
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean': {
      const problem = scalarProblem(schema, sent);
      if (problem !== null) report(pointer, problem);
      return sent;
    }
  }
}

function readObject({ properties, required }: ObjectAnswer, sent: unknown, pointer: string, report: Report) {
  if (typeof sent !== 'object' || sent === null || Array.isArray(sent)) {
    report(pointer, 'must be an object');
    return {};
  }
  const fields = new Map(Object.entries(sent));
  for (const name of fields.keys()) {
    if (!Object.hasOwn(properties, name)) report(below(pointer, cut(name, maxNameLength)), 'is not declared');
  }
  const entries = Object.entries(properties).flatMap(([name, property]): [string, unknown][] => {
    const field: unknown = fields.get(name);
    if (required.includes(name) && field === undefined) report(below(pointer, name), 'is required');
    else if (required.includes(name) || (field !== undefined && field !== null))
      return [[name, read(property, field, below(pointer, name), report)]];
    return [];
  });
  return Object.fromEntries(entries);
}

function scalarProblem({ type, enum: members, minimum, maximum, maxLength }: ScalarAnswer, sent: unknown) {
  const fits =
    type === 'integer'
      ? Number.isSafeInteger(sent)
      : type === 'number'
        ? Number.isFinite(sent)
        : typeof sent === type;
  if (!fits) return `must be of type ${type}`;
  if (members !== undefined && !members.includes(sent as Scalar)) return 'is none of the declared values';
  if (typeof sent === 'string' && sent.length > (maxLength ?? Infinity)) return `is longer than ${maxLength}`;
  if (typeof sent !== 'number') return null;
  if (sent < (minimum ?? -Infinity)) return `is less than ${minimum}`;
  return sent > (maximum ?? Infinity) ? `is more than ${maximum}` : null;
}
