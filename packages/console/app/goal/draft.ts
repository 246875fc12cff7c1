/** A draft as its editor holds it: any JSON, of which the form shows what it understands. */
import type { GoalFile, GoalFileProblem, Scalar, ScalarProperty, ScriptedCallee } from '@trunkcall/contract';

export type Draft = { readonly [Name in keyof GoalFile]?: GoalFile[Name] };
export type Schema = GoalFile['input_schema'];

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The draft with one part replaced; `undefined` takes it out. Keeps the order of the keys. */
export function withPart(draft: Draft, name: keyof GoalFile, part: unknown): Draft {
  const entries = Object.entries({ ...draft, [name]: part });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** What the form of a part of a draft is given. */
export interface PartProps {
  readonly draft: Draft;
  readonly set: <Name extends keyof GoalFile>(name: Name, part: GoalFile[Name] | undefined) => void;
  readonly readOnly: boolean;
  /** What is wrong at a JSON pointer. */
  readonly wrong: (pointer: string) => string | undefined;
}

/** Problems in a part, with pointers that count from the part. */
export function problemsIn(problems: readonly GoalFileProblem[], place: string): GoalFileProblem[] {
  return problems
    .filter(({ pointer }) => pointer === place || pointer.startsWith(`${place}/`))
    .map(({ pointer, message }) => ({ pointer: pointer.slice(place.length), message }));
}

/** What is wrong at one field and below it, in a sentence; undefined when nothing is. */
export function problemAt(problems: readonly GoalFileProblem[], place: string): string | undefined {
  const messages = problemsIn(problems, place).map(({ message }) => message);
  return messages.length === 0 ? undefined : messages.join('; ');
}

export interface Field {
  readonly name: string;
  readonly property: ScalarProperty;
  readonly required: boolean;
}

/** The fields of a schema; null when the form could not show it without losing something. */
export function fieldsOf(schema: unknown): Field[] | null {
  if (!isObject(schema) || !isObject(schema['properties']) || !Array.isArray(schema['required'])) return null;
  const known = ['type', 'additionalProperties', 'properties', 'required'];
  if (Object.keys(schema).some((key) => !known.includes(key))) return null;
  const { properties, required } = schema as unknown as Schema;
  const fields = Object.entries(properties);
  const shown = fields.every(([, property]) => isObject(property) && Object.keys(property).every(isShown));
  const named = required.every((name) => Object.hasOwn(properties, name));
  if (!shown || !named) return null;
  return fields.map(([name, property]) => ({ name, property, required: required.includes(name) }));
}

const isShown = (key: string) => ['type', 'description', 'enum', 'default'].includes(key);

export function schemaOf(fields: readonly Field[]): Schema {
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(fields.map(({ name, property }) => [name, property])),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  };
}

/** The scripted callees; null when the form could not show them without losing something. */
export function calleesOf(value: unknown): ScriptedCallee[] | null {
  if (value === undefined) return [];
  return Array.isArray(value) && value.every(isCallee) ? value : null;
}

const isText = (value: unknown) => typeof value === 'string';
const isScalar = (value: unknown) => ['string', 'number', 'boolean'].includes(typeof value);
const mapsTo = (is: (value: unknown) => boolean) => (value: unknown) =>
  isObject(value) && Object.values(value).every(is);
const isLines = (value: unknown) => isText(value) || (Array.isArray(value) && value.every(isText));

const calleeParts: Readonly<Record<keyof ScriptedCallee, (value: unknown) => boolean>> = {
  phone: isText,
  name: isText,
  does: isText,
  variables: mapsTo(isScalar),
  says: mapsTo(isLines),
  expect: (value) =>
    isObject(value) &&
    Object.entries(value).every(([key, part]) =>
      key === 'result' ? mapsTo(isScalar)(part) : key === 'error' && isText(part),
    ),
};

function isCallee(value: unknown): value is ScriptedCallee {
  return (
    isObject(value) &&
    Object.entries(value).every(
      ([key, part]) => Object.hasOwn(calleeParts, key) && calleeParts[key as keyof ScriptedCallee](part),
    )
  );
}

/** Somebody who cooperates, with a number that nobody else of them has. */
export function newCallee(callees: readonly ScriptedCallee[], input: readonly Field[]): ScriptedCallee {
  const taken = new Set(callees.map(({ phone }) => phone));
  // Numbers that are given to nobody (NANP 555-01XX).
  const numbers = Array.from({ length: 101 }, (_, index) => `+12125550${100 + index}`);
  const variables = input
    .filter(({ required }) => required)
    .map(({ name, property }) => [name, sampleOf(name, property)]);
  return {
    phone: numbers.find((number) => !taken.has(number)) ?? '+12125550199',
    name: '',
    variables: Object.fromEntries(variables) as Record<string, Scalar>,
    says: {},
    expect: { result: {} },
  };
}

function sampleOf(name: string, { type, enum: members, default: usual }: ScalarProperty): Scalar {
  const samples = { string: name.replaceAll('_', ' '), number: 1, integer: 1, boolean: true };
  return usual ?? members?.[0] ?? samples[type];
}

/** A valid Goal to begin with. */
export function newGoal(title: string): GoalFile {
  return {
    format: 1,
    title,
    description: '',
    instructions: 'You call {{customer_name}} and ask whether the delivery tomorrow suits.',
    voice: { region: 'US', name: 'default' },
    locale: 'en-US',
    targets: { countries: ['US'] },
    input_schema: schemaOf([
      {
        name: 'customer_name',
        property: { type: 'string', description: 'Whom the agent asks for.' },
        required: true,
      },
    ]),
    result_schema: schemaOf([
      {
        name: 'suits',
        property: { type: 'boolean', description: 'whether the delivery tomorrow suits' },
        required: true,
      },
    ]),
    agent: { kind: 'scripted' },
    limits: { ring_seconds: 30, call_seconds: 300 },
    machine: 'hang_up',
  };
}
