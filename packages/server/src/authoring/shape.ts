/** Checks values against the contract's schemas and says in plain words what would be right. */
import { printableFormats, unprintable } from '@trunkcall/contract';
import { Ajv2020, type AnySchemaObject, type ErrorObject } from 'ajv/dist/2020.js';
import { below } from '../platform/json-pointer.ts';
import type { GoalProblem } from './goal-source.ts';

/** `ownProperties`: an inherited `constructor` or `toString` must not count as a field. */
const ajv = new Ajv2020({
  allErrors: true,
  verbose: true,
  ownProperties: true,
  strict: false,
  discriminator: true,
  formats: printableFormats,
});

/**
 * Makes a check of a schema of ours that lists every place where a value has not its shape. The check never throws. It is
 * compiled, and kept, when it is first needed: a process needs few of them, and starts sooner.
 */
export function compileShape(schema: AnySchemaObject): (value: unknown) => GoalProblem[] {
  return (value) => {
    const validate = ajv.compile(schema);
    if (validate(value)) return [];
    // Inside a choice each branch complains; the choice itself says it better.
    const errors = (validate.errors ?? []).filter((error) => !error.schemaPath.includes('/anyOf/'));
    return errors.map((error) => ({ pointer: placeOf(error), message: describe(error) }));
  };
}

/** The subset of JSON Schema that the contract's schemas are written in. */
interface Shape {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly anyOf?: readonly Shape[];
  readonly oneOf?: readonly Shape[];
  readonly const?: unknown;
  readonly items?: Shape;
  readonly maxLength?: number;
  readonly maxItems?: number;
}

function placeOf(error: ErrorObject): string {
  const { additionalProperty, missingProperty, tag } = error.params as Readonly<Record<string, unknown>>;
  const name = additionalProperty ?? missingProperty ?? tag;
  return typeof name === 'string' ? below(error.instancePath, name) : error.instancePath;
}

function describe(error: ErrorObject): string {
  const params = error.params as Readonly<Record<string, unknown>>;
  const shape = (error.parentSchema ?? {}) as Shape;
  const limit = String(params['limit']);
  switch (error.keyword) {
    case 'required': {
      const missing = shape.properties?.[String(params['missingProperty'])];
      return `is missing${missing?.description ? ` (${missing.description})` : ''}`;
    }
    case 'additionalProperties':
      return `is an unknown field; known here: ${Object.keys(shape.properties ?? {}).join(', ')}`;
    case 'type':
      return `must be ${nameOf({ type: String(params['type']) })}`;
    case 'enum':
      return `must be one of: ${(params['allowedValues'] as readonly unknown[]).join(', ')}`;
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'discriminator':
      return `must be one of: ${tagsOf(shape, String(params['tag'])).join(', ')}`;
    case 'anyOf':
      return `must be ${(shape.anyOf ?? []).map(nameOf).join(' or ')}`;
    case 'pattern':
      return `must match ${String(params['pattern'])}${shape.description ? ` (${shape.description})` : ''}`;
    case 'format':
      return unprintable(String(params['format']), String(error.data)) ?? 'is not valid';
    case 'minLength':
      return 'must not be empty';
    case 'maxLength':
      return `must have at most ${limit} characters`;
    case 'minItems':
      return `must have at least ${limit} item`;
    case 'maxItems':
      return `must have at most ${limit} items`;
    case 'uniqueItems':
      return 'must not list the same item twice';
    case 'minimum':
      return `must be at least ${limit}`;
    case 'maximum':
      return `must be at most ${limit}`;
    default:
      return error.message ?? 'is not valid';
  }
}

/** The values of the field that selects among several shapes. */
function tagsOf({ oneOf = [] }: Shape, tag: string): string[] {
  return oneOf.map(({ properties }) => String(properties?.[tag]?.const));
}

/** A kind of value in words, with the bounds that its reader would ask about. */
function nameOf(shape: Shape): string {
  switch (shape.type ?? 'object') {
    case 'string':
      return shape.maxLength === undefined ? 'a string' : `a string of at most ${shape.maxLength} characters`;
    case 'number':
      return 'a number';
    case 'integer':
      return 'an integer';
    case 'boolean':
      return '`true` or `false`';
    case 'array':
      return shape.items === undefined ? 'a list' : `a list of 1 to ${shape.maxItems} such items`;
    default:
      return 'a mapping';
  }
}
