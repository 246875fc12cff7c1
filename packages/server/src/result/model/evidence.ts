/**
 * Result schemas as questions to a model: the same shape, in which every value is a claim that says who said it.
 *
 *   { "free": true }  ─▶  { "free": { "value": true, "turns": [3], "quote": "yes, I am", "confidence": 0.9 } }
 */
import type { CallScalar, CallSchema, CallSchemaNode, Scalar } from '@trunkcall/contract';
import { below } from '../../platform/json-pointer.ts';
import type { AnswerSchema, ObjectAnswer } from '../../platform/chat/answer-schema.ts';

/** A value that a model claims to have found. */
export interface Claim {
  readonly value: Scalar;
  /** Index into the recipients; without it there is one conversation. */
  readonly recipient?: number;
  readonly turns: readonly number[];
  readonly quote: string;
  readonly confidence: number;
}

export interface PlacedClaim {
  /** Names and indexes from the root of the schema. */
  readonly tokens: readonly (string | number)[];
  /** JSON Pointer (RFC 6901) into the claims: where the model can find it. */
  readonly pointer: string;
  readonly claim: Claim;
  /** What is claimed. */
  readonly node: CallScalar;
}

const maxTurns = 20;
const maxItems = 50;
const maxValueLength = 2_000;
export const maxQuoteLength = 1_000;
/** Names that every provider takes. */
const plainName = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** The shape of the claims. Nothing in it is required: what was not said is not claimed. */
export function claimsSchema(schema: CallSchema, recipients: number | null): ObjectAnswer {
  const names = aliases(Object.keys(schema.properties));
  const properties = Object.entries(schema.properties).map(([name, node]) => {
    const alias = names.get(name) ?? name;
    const label = alias === name ? node.description : [name, node.description].filter(Boolean).join(': ');
    return [alias, described(claimOf(node, recipients), label)] as const;
  });
  return { type: 'object', properties: Object.fromEntries(properties), required: [] };
}

/** If a name is too odd for some provider, all of this object's are numbered. */
function aliases(names: readonly string[]): ReadonlyMap<string, string> {
  const odd = names.some((name) => !plainName.test(name));
  return new Map(names.map((name, index) => [name, odd ? `field_${index + 1}` : name]));
}

function described(schema: AnswerSchema, description: string | undefined): AnswerSchema {
  return description === undefined ? schema : { ...schema, description };
}

function claimOf(node: CallSchemaNode, recipients: number | null): AnswerSchema {
  switch (node.type) {
    case 'object':
      return claimsSchema(node, recipients);
    case 'array':
      return { type: 'array', items: claimOf(node.items, recipients), maxItems };
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean': {
      const properties: Record<string, AnswerSchema> = {
        value: {
          type: node.type,
          ...(node.enum === undefined ? { maxLength: maxValueLength } : { enum: node.enum }),
        },
        ...(recipients === null
          ? {}
          : { recipient: { type: 'integer', minimum: 0, maximum: Math.max(0, recipients - 1) } }),
        turns: { type: 'array', items: { type: 'integer', minimum: 0 }, maxItems: maxTurns },
        quote: { type: 'string', maxLength: maxQuoteLength },
        confidence: { type: 'number', minimum: 0, maximum: 1 },
      };
      return { type: 'object', properties, required: Object.keys(properties) };
    }
  }
}

type Json = Readonly<Record<string, unknown>>;

/** The claims of an answer that has the shape of `claimsSchema`, in its order. */
export function claimsIn(
  schema: CallSchema,
  answer: unknown,
  pointer = '',
  tokens: PlacedClaim['tokens'] = [],
): PlacedClaim[] {
  const names = aliases(Object.keys(schema.properties));
  return Object.entries(schema.properties).flatMap(([name, node]) => {
    const alias = names.get(name) ?? name;
    return claimsAt(node, (answer as Json)[alias], below(pointer, alias), [...tokens, name]);
  });
}

function claimsAt(
  node: CallSchemaNode,
  answer: unknown,
  pointer: string,
  tokens: PlacedClaim['tokens'],
): PlacedClaim[] {
  if (answer === undefined) return [];
  switch (node.type) {
    case 'object':
      return claimsIn(node, answer, pointer, tokens);
    case 'array':
      return (answer as readonly unknown[]).flatMap((item, index) =>
        claimsAt(node.items, item, below(pointer, index), [...tokens, index]),
      );
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
      return [{ tokens, pointer, claim: answer as Claim, node }];
  }
}

/** A field's path, as `leavesOf` writes it. */
export function pathOf(tokens: PlacedClaim['tokens']): string {
  return tokens.reduce<string>(below, '').slice(1);
}
