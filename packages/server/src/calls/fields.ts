/**
 * Nested result schemas as what a conversation can fill: flat fields, each asked once.
 *
 * A field is a leaf of the schema: a scalar, or a list of scalars, whose values come in one answer. Its path is
 * the JSON Pointer (RFC 6901) without the leading slash, so a field at the root keeps its name. Lists of objects
 * have no leaf: nobody can be asked for them in one question. What stands in a list can still be found in a
 * conversation, item by item: its path holds the item's index, as in `visits/0/day`.
 */
import type {
  CallArray,
  CallObject,
  CallScalar,
  CallSchema,
  CallSchemaNode,
  ResultSchema,
  Scalar,
  ScalarProperty,
} from '@trunkcall/contract';
import { humanise } from '../agents/scripted/understanding/text.ts';
import { below } from '../platform/json-pointer.ts';
import { splitList } from './lists.ts';

/** One field that can be asked for. */
export interface Leaf {
  readonly path: string;
  /** As it is asked: the description says what the field belongs to; a list is asked for as text. */
  readonly property: ScalarProperty;
  /** The leaf and everything that it stands in are required. */
  readonly required: boolean;
}

/** As a Goal's descriptions; more would be spoken for minutes. */
const maxDescriptionLength = 1_000;

/** The leaves in the order of the schema. */
export function leavesOf(schema: CallSchema): Leaf[] {
  return leavesBelow(schema, '', [], true);
}

function leavesBelow(
  node: CallSchemaNode,
  pointer: string,
  context: readonly string[],
  required: boolean,
): Leaf[] {
  if (node.type === 'object') {
    return Object.entries(node.properties).flatMap(([name, child]) => {
      const about = [...context, child.description || humanise(name)];
      return leavesBelow(child, below(pointer, name), about, required && node.required.includes(name));
    });
  }
  const path = pointer.slice(1);
  if (node.type !== 'array') return [{ path, property: asAsked(node, context), required }];
  if (node.items.type === 'object') return [];
  return [{ path, property: asText(node, node.items, context), required }];
}

function asAsked(node: CallScalar, context: readonly string[]): ScalarProperty {
  return {
    type: node.type,
    ...(node.enum === undefined ? {} : { enum: [...node.enum] }),
    ...descriptionOf(node, context),
  };
}

/** Several values in one answer are text; what they may be is a part of the question. */
function asText(node: CallArray, items: CallScalar, context: readonly string[]): ScalarProperty {
  if (items.enum === undefined) return { type: 'string', ...descriptionOf(node, context) };
  const options = items.enum.map((member) => humanise(String(member))).join(', ');
  return { type: 'string', description: `${question(context)} (${options})`.slice(0, maxDescriptionLength) };
}

/** A field at the root without a description is asked for by its name. */
function descriptionOf(
  { description }: CallSchemaNode,
  context: readonly string[],
): { readonly description?: string } {
  if (description === undefined && context.length === 1) return {};
  return { description: question(context).slice(0, maxDescriptionLength) };
}

/** What is asked for, from the outermost object in: "Delivery address, which city?" */
function question(context: readonly string[]): string {
  const outer = context.slice(0, -1).map((about) => `${about.replace(/[\s.:?]+$/, '')}, `);
  return `${outer.join('')}${context.at(-1) ?? ''}`;
}

/**
 * Builds the object that the schema describes from values by path.
 *
 * What is optional and has no value is left out, and so is an optional object that lacks something it requires. A
 * required value that is missing becomes `unknown` where its enum has that member; a required list becomes empty.
 * Values are not checked. Ends with: the object, or null when something required is missing.
 */
export function assemble(
  schema: CallSchema,
  values: ReadonlyMap<string, Scalar>,
): Readonly<Record<string, unknown>> | null {
  return buildObject(schema, '', values)?.value ?? null;
}

interface Built<Value = unknown> {
  readonly value: Value;
  /** A value from the conversation is in it. */
  readonly filled: boolean;
}

function build(node: CallSchemaNode, pointer: string, values: ReadonlyMap<string, Scalar>): Built | null {
  if (node.type === 'object') return buildObject(node, pointer, values);
  const value = values.get(pointer.slice(1));
  if (node.type === 'array') {
    const { items } = node;
    const list =
      value === undefined || items.type === 'object'
        ? buildItems(items, pointer, values)
        : splitList(value, items);
    return { value: list, filled: list.length > 0 };
  }
  if (value !== undefined) return { value, filled: true };
  return node.enum?.includes('unknown') ? { value: 'unknown', filled: false } : null;
}

/** The items of which something is known, in order; one that lacks what it requires is left out. */
function buildItems(
  node: CallArray['items'],
  pointer: string,
  values: ReadonlyMap<string, Scalar>,
): unknown[] {
  const prefix = `${pointer}/`.slice(1);
  const indexes = [...values.keys()].flatMap((path) =>
    path.startsWith(prefix) ? (/^\d{1,4}(?=\/|$)/.exec(path.slice(prefix.length)) ?? []).map(Number) : [],
  );
  return [...new Set(indexes)]
    .sort((a, b) => a - b)
    .flatMap((index) => {
      const built = build(node, below(pointer, index), values);
      return built !== null && built.filled ? [built.value] : [];
    });
}

function buildObject(
  node: CallObject,
  pointer: string,
  values: ReadonlyMap<string, Scalar>,
): Built<Readonly<Record<string, unknown>>> | null {
  const entries: [string, unknown][] = [];
  let filled = false;
  for (const [name, child] of Object.entries(node.properties)) {
    const required = node.required.includes(name);
    const built = build(child, below(pointer, name), values);
    if (built === null && required) return null;
    if (built === null || (!built.filled && !required)) continue;
    entries.push([name, built.value]);
    filled ||= built.filled;
  }
  return { value: Object.fromEntries(entries), filled };
}

/** Whether a value of the schema can have this path: that of a leaf, or of something in a list. */
export function isPathIn(schema: CallSchema, path: string): boolean {
  let node: CallSchemaNode | undefined = schema;
  for (const token of path.split('/').map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))) {
    if (node?.type === 'object')
      node = Object.hasOwn(node.properties, token) ? node.properties[token] : undefined;
    else if (node?.type === 'array') node = /^\d{1,4}$/.test(token) ? node.items : undefined;
    else return false;
  }
  // A list of scalars may come in one answer.
  return (
    node !== undefined && node.type !== 'object' && (node.type !== 'array' || node.items.type !== 'object')
  );
}

/** Asked when nothing in particular is wanted; agents say descriptions as they are. */
const replyInEnglish = 'Is there a message that I should pass on?';
const replyQuestions = new Map([['es', '¿Hay algún mensaje que deba transmitir?']]);
/** The field of that question. */
const replyField = 'reply';

/**
 * What the agent asks in each conversation of a call, as a Goal's result schema: the fields of both schemas by
 * path, those of the recipient's first. Where both have a path, the recipient's definition counts, and it is
 * required if either requires it. With no field at all, the question is whether there is a message to pass on.
 */
export function questionsOf(
  recipientSchema: CallSchema | null,
  resultSchema: CallSchema | null,
  locale = 'en',
): ResultSchema {
  const properties = new Map<string, ScalarProperty>();
  const required = new Set<string>();
  for (const schema of [recipientSchema, resultSchema]) {
    for (const leaf of schema === null ? [] : leavesOf(schema)) {
      if (!properties.has(leaf.path)) properties.set(leaf.path, leaf.property);
      if (leaf.required) required.add(leaf.path);
    }
  }
  if (properties.size === 0) {
    const description = replyQuestions.get(locale.split('-')[0] ?? '') ?? replyInEnglish;
    properties.set(replyField, { type: 'string', description });
  }
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(properties),
    required: [...required],
  };
}
