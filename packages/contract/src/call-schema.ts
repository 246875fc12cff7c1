/**
 * The result schemas of calls without a Goal: a strict subset of JSON Schema 2020-12, in its normal form. Every
 * object is closed and says what it requires. (Contract: "Legacy: POST /v1/calls", schema rules.)
 */
import type { Scalar } from './goal-file.ts';

export interface CallScalar {
  readonly type: 'string' | 'number' | 'integer' | 'boolean';
  /** Guides whoever asks; never validated. */
  readonly description?: string;
  readonly enum?: readonly Scalar[];
}

export interface CallArray {
  readonly type: 'array';
  readonly description?: string;
  readonly items: CallScalar | CallObject;
}

export interface CallObject {
  readonly type: 'object';
  readonly description?: string;
  readonly properties: Readonly<Record<string, CallSchemaNode>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

export type CallSchemaNode = CallScalar | CallArray | CallObject;

/** A whole schema: its root is an object. */
export type CallSchema = CallObject;
