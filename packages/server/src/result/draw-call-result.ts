import type { CallSchema, Scalar } from '@trunkcall/contract';
import type { DrawnFields } from './draw-result.ts';
import type { FieldEvidence } from './extractor.ts';
import { assemble, isPathIn } from '../calls/fields.ts';
import { createResultValidator } from './validate.ts';

export type DrawnCallResult =
  | {
      readonly kind: 'result';
      /** Valid under the schema. */
      readonly result: Readonly<Record<string, unknown>>;
      /** By path; what was filled with `unknown` has none. */
      readonly evidence: Readonly<Record<string, FieldEvidence>>;
    }
  | { readonly kind: 'none'; readonly reason: 'missing_required' | 'schema_mismatch' | 'nothing_said' };

const validator = createResultValidator();

/**
 * Draws a nested result from what one conversation gave, by the rules of `drawResult`.
 *
 * Values under paths that this schema does not have are passed over: a conversation of a call answers the
 * questions of two schemas. Throws: never. Safe to repeat: yes.
 */
export function drawCallResult(
  schema: CallSchema,
  drawn: Exclude<DrawnFields, { kind: 'retry' }>,
): DrawnCallResult {
  if (drawn.kind === 'nothing') return { kind: 'none', reason: 'nothing_said' };
  if (drawn.kind === 'invalid') return { kind: 'none', reason: 'schema_mismatch' };
  const evidence = [...drawn.fields].filter(([path]) => isPathIn(schema, path));
  const values = new Map<string, Scalar>(evidence.map(([path, { value }]) => [path, value]));
  const result = assemble(schema, values);
  if (result === null) return { kind: 'none', reason: 'missing_required' };
  if (validator.problems(schema, result).length > 0) return { kind: 'none', reason: 'schema_mismatch' };
  return { kind: 'result', result, evidence: Object.fromEntries(evidence) };
}
