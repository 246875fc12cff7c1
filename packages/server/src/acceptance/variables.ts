import type { InputSchema, Scalar } from '@trunkcall/contract';
import { plainName } from '../platform/plain-name.ts';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/**
 * Compiles the check of a Goal's `variables`.
 *
 * `ownProperties`: without it a required `constructor` or `toString` would count as present in every object.
 * Defaults are filled in on a copy: what was sent is never changed.
 */
export type VariablesCheck = (
  sent: Readonly<Record<string, unknown>>,
) =>
  | { readonly ok: true; readonly values: Readonly<Record<string, Scalar>> }
  | { readonly ok: false; readonly problem: string };

export function compileVariables(schema: InputSchema): VariablesCheck {
  const ajv = new Ajv2020({ ownProperties: true, useDefaults: true, strict: true, allErrors: false });
  const validate = ajv.compile(schema);
  return (sent) => {
    const values = { ...sent };
    return validate(values)
      ? { ok: true, values: values as Record<string, Scalar> }
      : { ok: false, problem: describe(validate) };
  };
}

/** Names the variable and what would be right, never its value. */
function describe(validate: ValidateFunction): string {
  const error = validate.errors?.[0];
  if (error === undefined) return 'variables do not match the input schema';
  const { params } = error as { params: Record<string, unknown> };
  const name = error.instancePath.slice(1).replaceAll('~1', '/').replaceAll('~0', '~');
  switch (error.keyword) {
    case 'required':
      return `variables.${String(params['missingProperty'])} is required`;
    case 'additionalProperties':
      return `variables has a key that the input schema does not declare: ${plainName(String(params['additionalProperty']))}`;
    case 'type':
      return `variables.${name} must be of type ${String(params['type'])}`;
    case 'enum':
      return `variables.${name} must be one of the values that the input schema lists`;
    default:
      return `variables.${name} ${error.message ?? 'is not valid'}`;
  }
}
