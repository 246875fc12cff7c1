/**
 * What the model may do beside speaking. Nothing here changes whom we call (A5): it ends this call, presses keys
 * in it, writes down what was said in it, or has the person connected with somebody whom the Goal names.
 */
import type { ResultSchema, Scalar, ScalarProperty } from '@trunkcall/contract';
import type { Brief, Note, TransferTarget } from './agent.ts';

export interface ToolCall {
  readonly callId: string;
  readonly name: string;
  /** JSON, as the model wrote it. */
  readonly arguments: string;
}

export interface Tool {
  readonly type: 'function';
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

export type ToolUse =
  | { readonly kind: 'end_call' }
  | { readonly kind: 'press_keys'; readonly keys: string }
  | { readonly kind: 'opt_out' }
  | { readonly kind: 'report_machine'; readonly machine: Machine }
  | { readonly kind: 'transfer'; readonly to: string }
  | { readonly kind: 'note'; readonly note: Extract<Note, { kind: 'answer' }> }
  | { readonly kind: 'unusable'; readonly why: string };

const machines = ['voicemail', 'announcement', 'menu'] as const;
export type Machine = (typeof machines)[number];

const maxKeys = 32;
const maxValueLength = 2_000;

/** What fits the call: who called us is met by no menu, and an announcement asks for nothing. */
export function toolsFor(
  brief: Pick<Brief, 'resultSchema' | 'direction' | 'announcement' | 'menu' | 'transfer'>,
): readonly Tool[] {
  if (brief.announcement !== null) return [endCall];
  return [
    endCall,
    ...(brief.direction === 'outbound' && brief.menu === 'navigate' ? [pressKeys] : []),
    optOut,
    ...(brief.direction === 'outbound' ? [reportMachine] : []),
    ...transferTool(brief.transfer?.targets ?? []),
    ...noteTool(brief.resultSchema),
  ];
}

const endCall = tool(
  'end_call',
  'Hangs up after what you are saying now was heard. Say goodbye in the same response. Nothing can be said afterwards.',
  { reason: { type: 'string', enum: ['done', 'no_time', 'wrong_person', 'declined', 'other'] } },
);
const pressKeys = tool(
  'press_keys',
  'Presses telephone keys, to get through an automatic menu. Only keys that the menu named.',
  { keys: { type: 'string', pattern: '^[0-9*#]{1,32}$' } },
);
const optOut = tool(
  'opt_out',
  'The person does not want to be called again. Call this at once, without a discussion. You will be told what to say.',
  {},
);
const reportMachine = tool(
  'report_machine',
  'No person answered but a machine: `voicemail` asks for a message, `announcement` says that the number can not ' +
    'be reached, `menu` offers keys, but none that leads to a person, or you can not press any. Call this instead of speaking. You will be ' +
    'told what to do.',
  { kind: { type: 'string', enum: machines } },
);

function transferTool(targets: readonly TransferTarget[]): Tool[] {
  if (targets.length === 0) return [];
  return [
    tool(
      'transfer_to_human',
      'Connects the person with somebody else, and ends your part of the call. Only when your task or the person asks ' +
        'for it. Say in the same response with whom you connect them and that they should stay on the line; ask nothing.',
      { to: { type: 'string', enum: targets.map(({ name }) => name) } },
    ),
  ];
}

function noteTool({ properties }: ResultSchema): Tool[] {
  const names = Object.keys(properties);
  if (names.length === 0) return [];
  return [
    tool(
      'note',
      'Writes down one fact that the person has just said, beside what you say. Once for each field; again when it is corrected.',
      {
        field: { type: 'string', enum: names },
        value: { type: ['string', 'number', 'boolean'], description: 'As the type of the field demands.' },
        quote: { type: 'string', description: 'The person’s own words in the last turn, literally.' },
      },
    ),
  ];
}

function tool(name: string, description: string, properties: Readonly<Record<string, unknown>>): Tool {
  const required = Object.keys(properties);
  return {
    type: 'function',
    name,
    description,
    parameters: { type: 'object', properties, required, additionalProperties: false },
  };
}

/** What the model wants. Its arguments are no more than a wish: what does not fit is told to it. Never throws. */
export function readToolCall(
  call: ToolCall,
  schema: ResultSchema,
  targets: readonly TransferTarget[],
): ToolUse {
  const given = argumentsOf(call);
  if (given === null) return unusable('the arguments are not a JSON object');
  switch (call.name) {
    case 'end_call':
    case 'opt_out':
      return { kind: call.name };
    case 'press_keys': {
      const { keys } = given;
      if (typeof keys !== 'string' || !/^[0-9*#]+$/.test(keys) || keys.length > maxKeys) {
        return unusable(`keys are 1 to ${maxKeys} of 0-9, * and #`);
      }
      return { kind: 'press_keys', keys };
    }
    case 'report_machine': {
      const machine = machines.find((name) => name === given['kind']);
      if (machine === undefined) return unusable(`kind is one of ${machines.join(', ')}`);
      return { kind: 'report_machine', machine };
    }
    case 'transfer_to_human': {
      const target = targets.find(({ name }) => name === given['to']);
      if (target === undefined) return unusable('there is nobody of that name to connect with');
      return { kind: 'transfer', to: target.name };
    }
    case 'note':
      return noteFrom(given, schema);
    default:
      return unusable('there is no such tool');
  }
}

function noteFrom(given: Readonly<Record<string, unknown>>, { properties }: ResultSchema): ToolUse {
  const { field, value, quote } = given;
  const property =
    typeof field === 'string' && Object.hasOwn(properties, field) ? properties[field] : undefined;
  if (typeof field !== 'string' || property === undefined) return unusable('there is no such field');
  const scalar = scalarOf(value, property);
  if (scalar === null) return unusable('the value does not fit the field');
  if (typeof quote !== 'string' || quote.trim() === '') return unusable('the quote is missing');
  return {
    kind: 'note',
    note: { kind: 'answer', field, value: scalar, quote: quote.slice(0, maxValueLength) },
  };
}

/** The value in the field's type; models like to write numbers and truth as text. */
function scalarOf(value: unknown, { type, enum: members }: ScalarProperty): Scalar | null {
  const scalar = typeof value === 'string' && type !== 'string' ? parsed(value) : value;
  const fits = type === 'integer' ? Number.isInteger(scalar) : typeof scalar === type;
  if (!fits || !isScalar(scalar)) return null;
  if (typeof scalar === 'string' && scalar.length > maxValueLength) return null;
  return members === undefined || members.includes(scalar) ? scalar : null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value);

function argumentsOf(call: ToolCall): Readonly<Record<string, unknown>> | null {
  const value = call.arguments === '' ? {} : parsed(call.arguments);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  return value as Readonly<Record<string, unknown>>;
}

const unusable = (why: string): ToolUse => ({ kind: 'unusable', why });
