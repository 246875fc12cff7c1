/** The public shapes of the Developer API: one source of TypeScript types, serialization and OpenAPI 3.1. */
import { Type, type Static } from 'typebox';
import { enumeration } from './enumeration.ts';
import { apiErrors, goalRunErrors, type GoalRunErrorCode } from './errors.ts';

const closed = { additionalProperties: false } as const;

export const jsonObject = (description: string) =>
  Type.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true, description });

export const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(
  schema: T,
  description?: string,
) => Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

export const timestamp = (description: string) => Type.String({ format: 'date-time', description });

export const RunSpecReference = Type.Object(
  {
    id: Type.String({ description: 'RunSpec id.' }),
    version: Type.Integer({ minimum: 1, description: 'RunSpec version; the first publication is 1.' }),
  },
  { ...closed, description: 'The immutable RunSpec that the Run was accepted under.' },
);

export const PublishedRunSpec = Type.Object(
  {
    id: Type.String({ description: 'RunSpec id.' }),
    version: Type.Integer({ minimum: 1, description: 'RunSpec version.' }),
    input_schema: jsonObject('JSON Schema of the `variables` that a Run takes.'),
    result_schema: jsonObject('JSON Schema of the `result` that a Run gives.'),
  },
  { ...closed, description: 'The published interface of a Goal.' },
);

export const Goal = Type.Object(
  {
    object: Type.Literal('goal', { description: 'Always `goal`.' }),
    id: Type.String({ description: 'Public Goal identity.' }),
    title: Type.String({ description: 'Title of the published workflow; not an identity.' }),
    description: Type.String({ description: 'What the published workflow does; never the prompt.' }),
    status: Type.Literal('active', { description: '`active` for every Goal that the API returns.' }),
    published_run_spec: PublishedRunSpec,
  },
  { ...closed, $id: 'Goal', description: 'A reusable phone workflow owned by one account.' },
);
export type Goal = Static<typeof Goal>;

export const goalRunStatuses = ['queued', 'in_progress', 'completed', 'failed', 'canceled'] as const;
export type GoalRunStatus = (typeof goalRunStatuses)[number];

export const GoalRunError = Type.Object(
  {
    code: enumeration(Object.keys(goalRunErrors) as GoalRunErrorCode[], {
      description: 'Why there is no result; for program logic.',
    }),
    message: Type.String({ description: 'For logs and operators.' }),
    detail_code: nullable(Type.String({ maxLength: 128 }), 'A finer, stable reason in snake_case.'),
  },
  { ...closed, description: 'Final; excludes `result`.' },
);
export type GoalRunError = Static<typeof GoalRunError>;

export const GoalRun = Type.Object(
  {
    id: Type.String({ description: 'Goal Run id: the one to poll with.' }),
    object: Type.Literal('goal_run', { description: 'Always `goal_run`.' }),
    goal_id: Type.String({ description: 'The Goal of the create path.' }),
    run_id: Type.String({ description: 'Internal execution member, for correlation only.' }),
    call_id: nullable(
      Type.String(),
      'The selected call attempt once there is one; says nothing about an answer.',
    ),
    status: enumeration(goalRunStatuses, { description: 'State of the telephone execution.' }),
    run_spec: RunSpecReference,
    result: nullable(
      jsonObject('Data that satisfies the pinned `result_schema`.'),
      'Null while processing or when `error` is set.',
    ),
    error: nullable(GoalRunError, 'Null while processing or when `result` is set.'),
    created_at: timestamp('UTC time of durable acceptance.'),
    completed_at: nullable(
      Type.String({ format: 'date-time' }),
      'UTC end of the telephone execution; null before.',
    ),
  },
  { ...closed, $id: 'GoalRun', description: 'One call started from a published Goal.' },
);
export type GoalRun = Static<typeof GoalRun>;

/** The list envelope around `item`. */
export const listOf = <T extends Parameters<typeof Type.Array>[0]>(item: T) =>
  Type.Object(
    {
      object: Type.Literal('list', { description: 'Always `list`.' }),
      data: Type.Array(item, { description: 'The items of this page.' }),
      next_cursor: nullable(Type.String(), 'Pass it unchanged for the next page; null on the last one.'),
    },
    closed,
  );

export const GoalList = listOf(Goal);

export const phonePattern = '^\\+[1-9]\\d{7,14}$';

export const GoalRunRequest = Type.Object(
  {
    phone: Type.String({ pattern: phonePattern, description: 'Canonical E.164 number to call.' }),
    variables: Type.Optional(
      Type.Unsafe<Record<string, string | number | boolean>>({
        type: 'object',
        additionalProperties: { type: ['string', 'number', 'boolean'] },
        default: {},
        description: 'Values for the Goal’s `input_schema`; finite scalars only.',
      }),
    ),
  },
  { ...closed, $id: 'GoalRunRequest', description: 'What a Goal Run takes; nothing else is accepted.' },
);
export type GoalRunRequest = Static<typeof GoalRunRequest>;

export const ErrorEnvelope = Type.Object(
  {
    error: Type.Object(
      {
        code: Type.String({ enum: Object.keys(apiErrors), description: 'For program logic.' }),
        message: Type.String({ description: 'For logs; names the offending field, never its value.' }),
        details: jsonObject('More about the refusal; `{}` when there is nothing more.'),
      },
      closed,
    ),
  },
  { ...closed, $id: 'Error', description: 'Every response that is not 2xx.' },
);
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;
