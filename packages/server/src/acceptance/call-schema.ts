/**
 * Reads the result schemas that calls without a Goal bring with them.
 *
 * What the contract lists is supported, and nothing else: an unknown keyword is refused, not ignored, because its
 * sender relies on it. What is accepted comes out in normal form: every object is closed and says what it
 * requires.
 */
import type {
  CallArray,
  CallObject,
  CallScalar,
  CallSchema,
  CallSchemaNode,
  ResultSchema,
  Scalar,
} from '@trunkcall/contract';
import { below } from '../platform/json-pointer.ts';
import { plainName } from '../platform/plain-name.ts';

export interface SchemaProblem {
  /** JSON Pointer (RFC 6901) into the schema as it was sent. */
  readonly pointer: string;
  readonly problem: string;
}

/** What was read, or why it was refused: at least one and at most `maxProblems` problems, in document order. */
export type SchemaReading<Schema> =
  | { readonly ok: true; readonly schema: Schema }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

const maxDepth = 10;
const maxProperties = 500;
const maxOneShotProperties = 32;
const maxBytes = 65_536;
const maxMembers = 100;
const maxNameLength = 64;
const maxProblems = 20;

/** Names that mean something else in JavaScript. */
const unsafeNames = new Set(['__proto__', 'constructor', 'prototype']);
/** What a recipient has beside its result, and the times of a call under the names that calls use for them. */
const reservedNames = new Set(
  `summary status transcript call_id created_at started_at answered_at ended_at completed_at updated_at duration
   duration_seconds duration_ms call_duration call_duration_seconds offset_seconds`.split(/\s+/),
);

const scalarTypes = ['string', 'number', 'integer', 'boolean'] as const;
const keywordsOf: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(scalarTypes.map((type) => [type, ['type', 'description', 'enum']])),
  array: ['type', 'description', 'items'],
  object: ['type', 'description', 'properties', 'required', 'additionalProperties'],
};

/**
 * Reads a call task's `result_schema` or `recipient_result_schema`; in the latter, names that a recipient has
 * already are reserved at the root. Throws: never.
 */
export function readCallSchema(
  value: unknown,
  kind: 'result' | 'recipient_result',
): SchemaReading<CallSchema> {
  const reserved = kind === 'recipient_result' ? reservedNames : new Set<string>();
  return read(new Reader(maxProperties, reserved), value);
}

/** Reads the `result_schema` of a one-shot call: a closed object of at most 32 scalar properties. Throws: never. */
export function readOneShotSchema(value: unknown): SchemaReading<ResultSchema> {
  const reading = read(new Reader(maxOneShotProperties, new Set()), value);
  if (!reading.ok) return reading;
  const nested = Object.entries(reading.schema.properties).filter(([, { type }]) => !isScalarType(type));
  const problems = nested.map(([name]) => ({
    pointer: `${below('/properties', name)}/type`,
    problem: `must be one of: ${scalarTypes.join(', ')}`,
  }));
  // No nested ones are left, so the schema is a flat one.
  return problems.length > 0 ? { ok: false, problems } : { ok: true, schema: reading.schema as ResultSchema };
}

function read(reader: Reader, value: unknown): SchemaReading<CallSchema> {
  const node = reader.node(value, '', 1);
  if (node !== null && node.type !== 'object') reader.report('/type', 'must be `object` at the root');
  // Only what was read to its end has a known depth and can be written out.
  else if (reader.problems.length === 0 && Buffer.byteLength(JSON.stringify(value)) > maxBytes) {
    reader.report('', `is larger than ${maxBytes} bytes of JSON`);
  }
  if (node === null || node.type !== 'object' || reader.problems.length > 0) {
    return { ok: false, problems: reader.problems };
  }
  return { ok: true, schema: node };
}

type Json = Readonly<Record<string, unknown>>;

/** Walks a schema down, collecting problems; what it returns is of use only when there are none. */
class Reader {
  readonly problems: SchemaProblem[] = [];
  readonly #maxProperties: number;
  readonly #reserved: ReadonlySet<string>;
  #properties = 0;

  constructor(maxProperties: number, reserved: ReadonlySet<string>) {
    this.#maxProperties = maxProperties;
    this.#reserved = reserved;
  }

  report(pointer: string, problem: string): void {
    if (this.problems.length < maxProblems) this.problems.push({ pointer, problem });
  }

  /** `depth` counts schemas within schemas; the root is 1. */
  node(value: unknown, pointer: string, depth: number): CallSchemaNode | null {
    if (!isObject(value)) return this.#refuse(pointer, 'must be an object with a `type`');
    if (depth > maxDepth) return this.#refuse(pointer, `is nested deeper than ${maxDepth} levels`);
    const { type } = value;
    const known = typeof type === 'string' && Object.hasOwn(keywordsOf, type) ? keywordsOf[type] : undefined;
    this.#checkKeywords(value, known ?? Object.values(keywordsOf).flat(), pointer);
    if (known === undefined) {
      const names = Object.keys(keywordsOf).join(', ');
      return this.#refuse(
        Object.hasOwn(value, 'type') ? `${pointer}/type` : pointer,
        `must have one \`type\` of: ${names}`,
      );
    }
    if (type === 'object') return this.#object(value, pointer, depth);
    if (type === 'array') return this.#array(value, pointer, depth);
    return this.#scalar(value, type as CallScalar['type'], pointer);
  }

  #refuse(pointer: string, problem: string): null {
    this.report(pointer, problem);
    return null;
  }

  #checkKeywords(value: Json, known: readonly string[], pointer: string): void {
    for (const keyword of Object.keys(value)) {
      if (known.includes(keyword)) continue;
      const name = plainKeyword(keyword);
      const where = typeof value['type'] === 'string' ? ` with type ${plainName(value['type'])}` : '';
      const place = name === null ? pointer : below(pointer, keyword);
      this.report(place, `${name ?? 'a keyword with this name'} is not supported${where}`);
    }
    const { description } = value;
    if (description !== undefined && typeof description !== 'string') {
      this.report(`${pointer}/description`, 'must be a string');
    }
  }

  #scalar(value: Json, type: CallScalar['type'], pointer: string): CallScalar {
    const scalar = { type, ...descriptionOf(value) };
    return value['enum'] === undefined
      ? scalar
      : { ...scalar, enum: this.#members(value['enum'], type, `${pointer}/enum`) };
  }

  #members(value: unknown, type: CallScalar['type'], pointer: string): Scalar[] {
    if (!Array.isArray(value) || value.length === 0 || value.length > maxMembers) {
      this.report(pointer, `must be a list of 1 to ${maxMembers} values`);
      return [];
    }
    const members = new Set<Scalar>();
    for (const [index, member] of (value as unknown[]).entries()) {
      if (!hasType(member, type)) this.report(below(pointer, index), `must be of the declared type, ${type}`);
      else if (members.has(member)) this.report(below(pointer, index), 'is listed twice');
      else members.add(member);
    }
    return [...members];
  }

  #array(value: Json, pointer: string, depth: number): CallArray | null {
    const { items } = value;
    const place = `${pointer}/items`;
    if (!isObject(items)) return this.#refuse(place, 'must be one schema');
    if (items['type'] === 'array') return this.#refuse(`${place}/type`, 'must not be a list in a list');
    const node = this.node(items, place, depth + 1);
    if (node === null || node.type === 'array') return null;
    return { type: 'array', ...descriptionOf(value), items: node };
  }

  #object(value: Json, pointer: string, depth: number): CallObject {
    const { additionalProperties } = value;
    if (additionalProperties !== undefined && additionalProperties !== false) {
      this.report(`${pointer}/additionalProperties`, 'must be false, or left out, which means the same');
    }
    const { properties = {}, required = [] } = value;
    const sent = isObject(properties) ? properties : {};
    if (sent !== properties) this.report(`${pointer}/properties`, 'must be an object of schemas');
    return {
      type: 'object',
      ...descriptionOf(value),
      properties: Object.fromEntries(this.#propertiesOf(sent, `${pointer}/properties`, depth)),
      required: this.#required(required, sent, `${pointer}/required`),
      additionalProperties: false,
    };
  }

  #propertiesOf(sent: Json, pointer: string, depth: number): Map<string, CallSchemaNode> {
    const properties = new Map<string, CallSchemaNode>();
    for (const [name, property] of Object.entries(sent)) {
      this.#properties += 1;
      if (this.#properties > this.#maxProperties) {
        if (this.#properties === this.#maxProperties + 1) {
          this.report(pointer, `exceeds ${this.#maxProperties} properties in the whole schema`);
        }
        return properties;
      }
      if (!this.#mayBeNamed(name, pointer, depth)) continue;
      const node = this.node(property, below(pointer, name), depth + 1);
      if (node !== null) properties.set(name, node);
    }
    return properties;
  }

  #mayBeNamed(name: string, pointer: string, depth: number): boolean {
    if (name === '' || name.length > maxNameLength) {
      this.report(pointer, `must have names of 1 to ${maxNameLength} characters`);
    } else if (unsafeNames.has(name)) this.report(below(pointer, name), 'has a name that is not allowed');
    else if (depth === 1 && this.#reserved.has(name)) {
      this.report(below(pointer, name), 'has a reserved name: every recipient has this already');
    } else return true;
    return false;
  }

  #required(value: unknown, properties: Json, pointer: string): string[] {
    if (!Array.isArray(value)) {
      this.report(pointer, 'must be a list of property names');
      return [];
    }
    const names = new Set<string>();
    for (const [index, name] of (value as unknown[]).entries()) {
      if (typeof name !== 'string' || !Object.hasOwn(properties, name)) {
        this.report(below(pointer, index), 'must name a declared property');
      } else if (names.has(name)) this.report(below(pointer, index), 'is listed twice');
      else names.add(name);
    }
    return [...names];
  }
}

/** A keyword as it is named in a message; null when it is too odd to be repeated. */
function plainKeyword(keyword: string): string | null {
  return /^\$?[A-Za-z]{1,40}$/.test(keyword) ? `'${keyword}'` : null;
}

function descriptionOf({ description }: Json): { readonly description?: string } {
  return typeof description === 'string' ? { description } : {};
}

function isScalarType(type: CallSchemaNode['type']): boolean {
  return type !== 'object' && type !== 'array';
}

function hasType(value: unknown, type: CallScalar['type']): value is Scalar {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return Number.isFinite(value);
    case 'string':
    case 'boolean':
      return typeof value === type;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
