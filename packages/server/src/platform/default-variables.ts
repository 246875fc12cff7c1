import type { InputSchema, Scalar } from '@trunkcall/contract';

/** The variables of a call that nobody gives any for: the defaults of the schema, and which required ones have none. */
export function defaultVariables({ properties, required }: InputSchema): {
  readonly values: Readonly<Record<string, Scalar>>;
  readonly missing: readonly string[];
} {
  const given = Object.entries(properties).flatMap(([name, property]): [string, Scalar][] =>
    property.default === undefined ? [] : [[name, property.default]],
  );
  const values = Object.fromEntries(given);
  return { values, missing: required.filter((name) => !Object.hasOwn(values, name)) };
}
