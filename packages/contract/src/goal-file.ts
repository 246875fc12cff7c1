/**
 * The Goal file, format 1: how a Goal is written down. The draft of a Goal, the pinned content of a RunSpec
 * and the file that the CLI applies have this one shape.
 */
import { Type, type Static } from 'typebox';
import { enumeration } from './enumeration.ts';
import { printableLine, printableText } from './printable.ts';

const closed = { additionalProperties: false } as const;

/** Scalar values that `variables` may carry. */
export type Scalar = string | number | boolean;
export type Variables = Readonly<Record<string, Scalar>>;

export const ScalarProperty = Type.Object(
  {
    type: enumeration(['string', 'number', 'integer', 'boolean']),
    description: Type.Optional(printableText({ maxLength: 1_000 })),
    enum: Type.Optional(
      Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), { minItems: 1, maxItems: 100 }),
    ),
    default: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
  },
  closed,
);
export type ScalarProperty = Static<typeof ScalarProperty>;

const flatSchema = (description: string) =>
  Type.Object(
    {
      type: Type.Literal('object'),
      additionalProperties: Type.Literal(false),
      properties: Type.Record(Type.String(), ScalarProperty),
      required: Type.Array(Type.String()),
    },
    { ...closed, description },
  );

export const InputSchema = flatSchema('JSON Schema of `variables`: scalar properties only.');
export type InputSchema = Static<typeof InputSchema>;
export const ResultSchema = flatSchema('JSON Schema of `result`: scalar properties only, no `default`.');
export type ResultSchema = Static<typeof ResultSchema>;

const ScriptedAgentSettings = Type.Object(
  {
    kind: Type.Literal('scripted', {
      description: 'The key-less agent that walks through the result schema.',
    }),
  },
  closed,
);

export const RealtimeAgentSettings = Type.Object(
  {
    kind: Type.Literal('realtime', {
      description: 'A model that hears and speaks, behind the OpenAI Realtime protocol.',
    }),
    model: Type.Optional(
      printableLine({
        minLength: 1,
        maxLength: 100,
        description: 'Model (Azure: deployment); the one of the deployment’s settings by default.',
      }),
    ),
    voice: Type.Optional(
      printableLine({ minLength: 1, maxLength: 100, description: 'Voice, as the provider names it.' }),
    ),
    vad: Type.Optional(
      Type.Object(
        {
          kind: enumeration(['server_vad', 'semantic_vad'], {
            description: 'Whether the end of a turn is told by silence or by what was said.',
          }),
          threshold: Type.Optional(
            Type.Number({
              minimum: 0,
              maximum: 1,
              description: '`server_vad`: how loud speech is; higher for noisy lines.',
            }),
          ),
          silence_ms: Type.Optional(
            Type.Integer({
              minimum: 100,
              maximum: 3_000,
              description: '`server_vad`: the silence that ends a turn, milliseconds.',
            }),
          ),
          eagerness: Type.Optional(
            enumeration(['low', 'medium', 'high', 'auto'], {
              description: '`semantic_vad`: how soon a pause ends a turn.',
            }),
          ),
        },
        { ...closed, description: 'How the provider tells that the callee speaks.' },
      ),
    ),
    noise_reduction: Type.Optional(
      enumeration(['near_field', 'far_field', 'off'], {
        description: 'What the provider does about noise before it listens; `near_field` by default.',
      }),
    ),
  },
  closed,
);
export type RealtimeAgentSettings = Static<typeof RealtimeAgentSettings>;

const name = (description: string) =>
  Type.Optional(printableLine({ minLength: 1, maxLength: 100, description }));

export const CascadeAgentSettings = Type.Object(
  {
    kind: Type.Literal('cascade', {
      description: 'A transcriber, a chat model and a voice in a row, each behind an endpoint of its own.',
    }),
    model: name('Chat model; the one of the deployment’s settings by default.'),
    transcribe_model: name('Model of the transcriber; the one of the deployment’s settings by default.'),
    voice: name('Voice, as its provider names it; the one of the deployment’s settings by default.'),
    filler: Type.Optional(
      Type.Boolean({
        description: 'Whether to ask for a moment when the model’s answer is late; `false` by default.',
      }),
    ),
  },
  closed,
);
export type CascadeAgentSettings = Static<typeof CascadeAgentSettings>;

const agentSettings = [ScriptedAgentSettings, RealtimeAgentSettings, CascadeAgentSettings];

/** The `kind` selects the shape, so that a mistake is told about that shape alone. */
export const AgentSettings = Type.Unsafe<Static<(typeof agentSettings)[number]>>({
  type: 'object',
  required: ['kind'],
  discriminator: { propertyName: 'kind' },
  oneOf: agentSettings,
  description: 'Who speaks.',
});
export type AgentSettings = Static<typeof AgentSettings>;

export const MachinePolicy = enumeration(['hang_up', 'leave_message'], {
  description: 'What to do when a machine answers that takes messages.',
});
export type MachinePolicy = Static<typeof MachinePolicy>;

export const MenuPolicy = enumeration(['navigate', 'hang_up'], {
  description:
    'What to do when a keypad menu answers: press the keys that lead to a person, which is what is done without it, or hang up.',
});
export type MenuPolicy = Static<typeof MenuPolicy>;

/** Who answered a call of ours. */
export const AnsweredBy = enumeration(['human', 'menu', 'voicemail', 'announcement', 'uncertain'], {
  description:
    'Who answered: a person, a keypad menu, a machine that takes messages, a recording that says the number can not be reached, or nobody can tell.',
});
export type AnsweredBy = Static<typeof AnsweredBy>;

export const CallingWindow = Type.Object(
  {
    timezone: Type.String({ description: 'IANA time zone, such as America/New_York.' }),
    days: Type.Array(enumeration(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']), {
      minItems: 1,
      maxItems: 7,
      uniqueItems: true,
    }),
    from: Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$', description: 'First minute, HH:MM.' }),
    to: Type.String({
      pattern: '^(([01]\\d|2[0-3]):[0-5]\\d|24:00)$',
      description: 'End, HH:MM, exclusive, after `from`.',
    }),
  },
  {
    ...closed,
    description:
      'When calls may be placed; a Run accepted outside waits as `queued`. For calls to a number of ours: when they are answered.',
  },
);
export type CallingWindow = Static<typeof CallingWindow>;

export const InboundSettings = Type.Object(
  {
    outside_hours: enumeration(['reject', 'message'], {
      description:
        'What a caller meets outside the calling window: the call is refused, or answered with `message` and ended. Refused by default.',
    }),
    message: Type.Optional(
      printableText({
        minLength: 1,
        maxLength: 500,
        description: 'What is said outside the calling window; `{{name}}` stands for an input variable.',
      }),
    ),
  },
  { ...closed, description: 'How calls to a number of ours are answered, when the Goal answers one.' },
);

/** Who called whom. */
export const directions = ['outbound', 'inbound'] as const;
export type Direction = (typeof directions)[number];

/** What a simulated person does; the default is to answer and cooperate. */
export const calleeBehaviors = [
  'cooperates',
  'rings_out',
  'busy',
  'declines',
  'voicemail',
  'hangs_up_midway',
  'answers_uselessly',
  'says_nothing',
  'unassigned',
  'carrier_fails',
  'opts_out',
  'has_menu',
  'talks_over',
  'never_hangs_up',
] as const;
export type CalleeBehavior = (typeof calleeBehaviors)[number];

/** What a simulated person does who calls us; `gives_up` hangs up before the answer. */
export const callerBehaviors = [
  'cooperates',
  'hangs_up_midway',
  'answers_uselessly',
  'says_nothing',
  'opts_out',
  'talks_over',
  'never_hangs_up',
  'gives_up',
] as const;
export type CallerBehavior = (typeof callerBehaviors)[number];

export const ScriptedCallee = Type.Object(
  {
    phone: Type.String({ pattern: '^\\+[1-9]\\d{7,14}$', description: 'The number that this person has.' }),
    name: Type.Optional(printableLine({ maxLength: 100, description: 'Shown in reports.' })),
    does: Type.Optional(
      enumeration(calleeBehaviors, { description: 'How the person behaves; `cooperates` by default.' }),
    ),
    says: Type.Optional(
      Type.Record(
        Type.String(),
        Type.Union([
          Type.String({ maxLength: 500 }),
          Type.Array(Type.String({ maxLength: 500 }), { minItems: 1, maxItems: 10 }),
        ]),
        {
          description:
            'Answers by result field; a list is said one after the other, each time the field is asked or confirmed.',
        },
      ),
    ),
    variables: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
        description:
          'Values for input_schema, as a request for this person would send them; in tests of the Goal alone.',
      }),
    ),
    expect: Type.Optional(
      Type.Object(
        {
          result: Type.Optional(
            Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()])),
          ),
          error: Type.Optional(
            Type.String({ description: 'The `error.code` that the Run should end with.' }),
          ),
        },
        { ...closed, description: 'What a test of the Goal should see.' },
      ),
    ),
  },
  { ...closed, description: 'A simulated person for tests of this Goal.' },
);
export type ScriptedCallee = Static<typeof ScriptedCallee>;

export const TransferTarget = Type.Object(
  {
    name: Type.String({
      pattern: '^[\\p{L}\\p{N}](?:[\\p{L}\\p{M}\\p{N} ._-]{0,58}[\\p{L}\\p{M}\\p{N}.])?$',
      description: '1–60 letters, digits, spaces or . _ -; how the agent speaks of them.',
    }),
    phone: Type.String({
      pattern: '^\\+[1-9]\\d{7,14}$',
      description: 'canonical E.164; the agent never learns it.',
    }),
    when: Type.Optional(
      printableText({
        minLength: 1,
        maxLength: 300,
        description: 'When the agent should connect the callee.',
      }),
    ),
  },
  { ...closed, description: 'Somebody with whom the agent may connect the callee.' },
);
export type TransferTarget = Static<typeof TransferTarget>;

export const GoalFile = Type.Object(
  {
    format: Type.Literal(1, { description: 'Version of this file format.' }),
    title: printableLine({ minLength: 1, maxLength: 200, description: 'Shown to API clients.' }),
    description: printableText({ maxLength: 2_000, description: 'Shown to API clients.' }),
    instructions: printableText({
      minLength: 1,
      maxLength: 32_000,
      description:
        'What the agent is to do; `{{name}}` stands for an input variable. Never shown to API clients.',
    }),
    voice: Type.Object(
      {
        region: Type.String({
          pattern: '^[A-Z]{2}$',
          description: 'ISO 3166-1 alpha-2 region of the voice.',
        }),
        name: printableLine({
          minLength: 1,
          maxLength: 100,
          description: 'Voice name; `default` lets the agent choose.',
        }),
      },
      closed,
    ),
    locale: Type.String({
      pattern: '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?$',
      description: 'BCP 47 locale of the callee.',
    }),
    targets: Type.Object(
      {
        countries: Type.Array(Type.String({ pattern: '^[A-Z]{2}$' }), {
          minItems: 1,
          maxItems: 250,
          uniqueItems: true,
          description: 'ISO 3166-1 alpha-2 countries whose numbers may be called.',
        }),
      },
      closed,
    ),
    input_schema: InputSchema,
    result_schema: ResultSchema,
    agent: AgentSettings,
    limits: Type.Object(
      {
        ring_seconds: Type.Integer({ minimum: 5, maximum: 120, description: 'How long the phone may ring.' }),
        call_seconds: Type.Integer({
          minimum: 45,
          maximum: 3_600,
          description: 'How long the call may last.',
        }),
      },
      closed,
    ),
    machine: MachinePolicy,
    menu: Type.Optional(MenuPolicy),
    record: Type.Optional(
      Type.Boolean({
        description:
          'Record both directions of the call, until the callee is connected with somebody else; the callee is told so first. Not in the simulated network.',
      }),
    ),
    calling_window: Type.Optional(CallingWindow),
    inbound: Type.Optional(InboundSettings),
    transfer: Type.Optional(
      Type.Array(TransferTarget, {
        maxItems: 10,
        description: 'With whom the agent may connect the callee. The scripted agent connects with nobody.',
      }),
    ),
    callees: Type.Optional(Type.Array(ScriptedCallee, { maxItems: 100 })),
  },
  { ...closed, $id: 'GoalFile', description: 'A Goal as its author writes it.' },
);
export type GoalFile = Static<typeof GoalFile>;
