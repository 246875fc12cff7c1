import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import type { CallSchema, ResultSchema } from '@trunkcall/contract';
import { below } from '../platform/json-pointer.ts';

/** What is wrong at a place of a result; never with its value (I10). */
interface ResultProblem {
  /** JSON Pointer (RFC 6901) into the result. */
  readonly pointer: string;
  readonly problem: string;
}

export interface ResultValidator {
  /** The problems of a result under the schema; empty when it is valid. Throws: on a schema that is none. */
  problems(schema: ResultSchema | CallSchema, result: unknown): ResultProblem[];
}

const maxCompiled = 500;
const maxProblems = 20;

/**
 * Validates results by JSON Schema 2020-12. Compiled schemas are kept by their text, at most `capacity` of
 * them; the one that was not used for the longest time goes first.
 */
export function createResultValidator(capacity = maxCompiled): ResultValidator {
  const compiled = new Map<string, ValidateFunction>();

  function validatorFor(schema: ResultSchema | CallSchema): ValidateFunction {
    const text = JSON.stringify(schema);
    const validate = compiled.get(text) ?? compile(schema);
    compiled.delete(text);
    compiled.set(text, validate);
    const [oldest] = compiled.keys();
    if (compiled.size > capacity && oldest !== undefined) compiled.delete(oldest);
    return validate;
  }

  return {
    problems(schema, result) {
      const validate = validatorFor(schema);
      return validate(result) ? [] : (validate.errors ?? []).slice(0, maxProblems).map(describe);
    },
  };
}

/**
 * Each schema has an Ajv of its own, which goes with it: a shared one would keep every schema for ever.
 * `ownProperties`: without it a required `constructor` or `toString` counts as present in every object.
 */
function compile(schema: ResultSchema | CallSchema): ValidateFunction {
  return new Ajv2020({ strict: true, ownProperties: true, allErrors: true }).compile(schema);
}

function describe({ keyword, instancePath, params, message }: ErrorObject): ResultProblem {
  const details = params as Record<string, unknown>;
  switch (keyword) {
    case 'required':
      return { pointer: below(instancePath, String(details['missingProperty'])), problem: 'is required' };
    case 'additionalProperties':
      return {
        pointer: below(instancePath, String(details['additionalProperty'])),
        problem: 'is not declared',
      };
    case 'enum':
      return { pointer: instancePath, problem: 'is none of the declared values' };
    default:
      return { pointer: instancePath, problem: message ?? 'is not valid' };
  }
}
