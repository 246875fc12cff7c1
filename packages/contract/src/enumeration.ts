import { Type } from 'typebox';

/** A string that is one of `values`; written as `enum`, which every OpenAPI reader understands. */
export const enumeration = <const Values extends readonly string[]>(
  values: Values,
  options: { readonly description?: string } = {},
) => Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], ...options });
