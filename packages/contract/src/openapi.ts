/**
 * The OpenAPI 3.1 document of the Developer API, made from the schemas that the service itself uses.
 */
import { apiErrors, goalRunErrors, type ApiErrorCode } from './errors.ts';
import { ErrorEnvelope, Goal, GoalList, GoalRun, GoalRunRequest } from './schemas.ts';

type Json = Readonly<Record<string, unknown>>;

export interface OpenApiOptions {
  /** Absolute address of the service; by default the address that served the document. */
  readonly baseUrl?: string;
}

const components = { Goal, GoalList, GoalRun, GoalRunRequest, Error: ErrorEnvelope } as const;
type ComponentName = keyof typeof components;

const reference = (name: ComponentName): Json => ({ $ref: `#/components/schemas/${name}` });

/** Builds the document; plain JSON. */
export function openApiDocument({ baseUrl = '/' }: OpenApiOptions = {}): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Trunkcall Developer API',
      version: '0.6.0',
      description:
        'Starts phone calls from published Goals and gives their results. Requests come from servers only: keep API keys out of browsers and apps.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }],
    tags: [
      { name: 'Goals', description: 'Published phone workflows.' },
      { name: 'Goal Runs', description: 'One call each, started from a Goal.' },
      { name: 'Service', description: 'For operators and load balancers.' },
    ],
    paths: {
      '/v1/goals': { get: listGoals },
      '/v1/goals/{goal_id}': { parameters: [goalId], get: getGoal },
      '/v1/goals/{goal_id}/runs': { parameters: [goalId], post: createGoalRun },
      '/v1/goals/{goal_id}/runs/{goal_run_id}': { parameters: [goalId, goalRunId], get: getGoalRun },
      '/livez': { get: livez },
      '/readyz': { get: readyz },
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, `tc_test_…` or `tc_live_…` as the deployment is.',
        },
      },
      headers,
      schemas: Object.fromEntries(
        Object.entries(components).map(([name, schema]) => [name, componentSchema(schema)]),
      ),
    },
  };
}

const exampleIds = {
  goal: 'goal_06bq5m3v0j7w1e2r9t4y8z6xk1',
  runSpec: 'rspec_06bq5m40rj7w1f3c5d7g9h2jk4',
  goalRun: 'grun_06bq5m8a1j7w1q0s2v4x6z8bn2',
  run: 'run_06bq5m8a1j7w1k3m5n7p9r2tv6',
  attempt: 'att_06bq5m8m5j7w1a2c4e6g8j0mp3',
};

const exampleGoal: Json = {
  object: 'goal',
  id: exampleIds.goal,
  title: 'Confirm a delivery window',
  description: 'Asks one customer to confirm or move a delivery window.',
  status: 'active',
  published_run_spec: {
    id: exampleIds.runSpec,
    version: 3,
    input_schema: {
      type: 'object',
      additionalProperties: false,
      properties: { customer_name: { type: 'string', description: 'Whom we call.' } },
      required: ['customer_name'],
    },
    result_schema: {
      type: 'object',
      additionalProperties: false,
      properties: { window_confirmed: { type: 'string', enum: ['yes', 'no', 'unknown'] } },
      required: ['window_confirmed'],
    },
  },
};

const acceptedRun: Json = {
  id: exampleIds.goalRun,
  object: 'goal_run',
  goal_id: exampleIds.goal,
  run_id: exampleIds.run,
  call_id: null,
  status: 'in_progress',
  run_spec: { id: exampleIds.runSpec, version: 3 },
  result: null,
  error: null,
  created_at: '2026-03-02T09:30:00.000Z',
  completed_at: null,
};

const exampleRuns: Json = {
  in_progress: { summary: 'Accepted', value: acceptedRun },
  completed: {
    summary: 'Finished with a result',
    value: {
      ...acceptedRun,
      call_id: exampleIds.attempt,
      status: 'completed',
      result: { window_confirmed: 'yes' },
      completed_at: '2026-03-02T09:31:12.000Z',
    },
  },
  failed: {
    summary: 'Nobody answered',
    value: {
      ...acceptedRun,
      call_id: exampleIds.attempt,
      status: 'failed',
      error: { code: 'no_answer', message: goalRunErrors.no_answer, detail_code: 'ring_timeout' },
      completed_at: '2026-03-02T09:30:41.000Z',
    },
  },
};

const headers: Record<string, Json> = {
  RequestId: { description: 'Our id of this exchange; name it in reports.', schema: { type: 'string' } },
  RetryAfter: { description: 'Whole seconds to wait.', schema: { type: 'integer', minimum: 1 } },
  Location: { description: 'Path of the Goal Run, relative to the service.', schema: { type: 'string' } },
  IdempotencyReplayed: {
    description: '`true` when the request had been accepted before.',
    schema: { type: 'string', const: 'true' },
  },
  Allow: { description: 'The methods that the path takes.', schema: { type: 'string' } },
  WwwAuthenticate: { description: 'The scheme that is asked for.', schema: { type: 'string' } },
};

const headerReference = (name: string): Json => ({ $ref: `#/components/headers/${name}` });
const requestIdHeader = { 'Request-Id': headerReference('RequestId') };

const pathParameter = (name: string, description: string, example: string): Json => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
  example,
});
const goalId = pathParameter('goal_id', 'The Goal’s `id`.', exampleIds.goal);
const goalRunId = pathParameter(
  'goal_run_id',
  'The Goal Run’s `id`; a `run_id` is not accepted.',
  exampleIds.goalRun,
);

const json = (schema: Json, examples: Json): Json => ({ 'application/json': { schema, examples } });

/** What any operation may answer; codes that share a status share a response. */
const everywhere: readonly ApiErrorCode[] = [
  'invalid_request',
  'method_not_allowed',
  'request_timeout',
  'headers_too_large',
  'internal_error',
  'provider_unavailable',
];
const withKey: readonly ApiErrorCode[] = [...everywhere, 'unauthorized', 'forbidden', 'rate_limit_exceeded'];

const extraHeaders: Partial<Record<number, Json>> = {
  401: { 'WWW-Authenticate': headerReference('WwwAuthenticate') },
  405: { Allow: headerReference('Allow') },
  429: { 'Retry-After': headerReference('RetryAfter') },
  503: { 'Retry-After': headerReference('RetryAfter') },
};

/** One response for each status that the codes can have. */
function refusals(codes: readonly ApiErrorCode[]): Json {
  const statuses = new Set(codes.flatMap((code) => [...apiErrors[code].statuses]));
  return Object.fromEntries(
    [...statuses]
      .toSorted((a, b) => a - b)
      .map((status) => {
        const here = codes.filter((code) => apiErrors[code].statuses.some((other) => other === status));
        return [String(status), refusal(status, here)];
      }),
  );
}

function refusal(status: number, codes: readonly ApiErrorCode[]): Json {
  const lines = codes.map((code) => `\`${code}\`: ${apiErrors[code].meaning} ${apiErrors[code].action}`);
  const examples = codes.map((code) => [
    code,
    { value: { error: { code, message: apiErrors[code].meaning, details: {} } } },
  ]);
  return {
    description: lines.join('\n\n'),
    headers: { ...requestIdHeader, ...extraHeaders[status] },
    content: json(reference('Error'), Object.fromEntries(examples)),
  };
}

const success = (description: string, schema: Json, examples: Json, moreHeaders: Json = {}): Json => ({
  description,
  headers: { ...requestIdHeader, ...moreHeaders },
  content: json(schema, examples),
});

const listGoals: Json = {
  operationId: 'listGoals',
  tags: ['Goals'],
  summary: 'List Goals',
  description:
    'The active, listed and published Goals of the key’s account that can be executed now, in the order of their ids. Scope: `goals:read`.',
  parameters: [
    {
      name: 'limit',
      in: 'query',
      description: 'How many Goals a page holds.',
      schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
    },
    {
      name: 'after',
      in: 'query',
      description: 'The previous page’s `next_cursor`, unchanged.',
      schema: { type: 'string' },
    },
  ],
  responses: {
    200: success('A page of Goals.', reference('GoalList'), {
      page: { value: { object: 'list', data: [exampleGoal], next_cursor: null } },
    }),
    ...refusals(withKey),
  },
};

const getGoal: Json = {
  operationId: 'getGoal',
  tags: ['Goals'],
  summary: 'Get a Goal',
  description: 'The Goal with its current schemas. Scope: `goals:read`.',
  responses: {
    200: success('The Goal.', reference('Goal'), { goal: { value: exampleGoal } }),
    ...refusals([...withKey, 'not_found', 'goal_not_published']),
  },
};

const createGoalRun: Json = {
  operationId: 'createGoalRun',
  tags: ['Goal Runs'],
  summary: 'Start a Goal Run',
  description:
    'Accepts one phone call durably, under the RunSpec that the Goal publishes now. The same key with the same `phone` and `variables` answers with the same Run, as it stands. `201` says nothing about the call itself: poll the Run. Scope: `runs:write`.',
  parameters: [
    {
      name: 'Idempotency-Key',
      in: 'header',
      required: true,
      description: 'Names this call, once and for all, within the Goal; 1–255 characters after trimming.',
      schema: { type: 'string', minLength: 1, maxLength: 255 },
      example: 'delivery-7412-confirm',
    },
  ],
  requestBody: {
    required: true,
    description: 'At most 64 KiB.',
    content: json(reference('GoalRunRequest'), {
      request: { value: { phone: '+12025550100', variables: { customer_name: 'Ada' } } },
    }),
  },
  responses: {
    201: success('Accepted, now or before.', reference('GoalRun'), exampleRuns, {
      Location: headerReference('Location'),
      'Retry-After': headerReference('RetryAfter'),
      'Idempotency-Replayed': headerReference('IdempotencyReplayed'),
    }),
    ...refusals([
      ...withKey,
      'not_found',
      'idempotency_conflict',
      'goal_not_published',
      'goal_not_executable',
      'goal_not_ready',
      'payload_too_large',
      'variables_invalid',
      'invalid_phone',
      'schema_override_not_allowed',
    ]),
  },
};

const getGoalRun: Json = {
  operationId: 'getGoalRun',
  tags: ['Goal Runs'],
  summary: 'Get a Goal Run',
  description:
    'The Run as it stands; a pure read. It is finished when `result` or `error` is set; until then `Retry-After` says when to ask again. Scope: `runs:read`.',
  responses: {
    200: success('The Goal Run.', reference('GoalRun'), exampleRuns, {
      'Retry-After': headerReference('RetryAfter'),
    }),
    ...refusals([...withKey, 'not_found']),
  },
};

function statusOperation(operationId: string, status: string, description: string): Json {
  const schema = {
    type: 'object',
    required: ['status'],
    additionalProperties: false,
    properties: { status: { type: 'string', const: status, description } },
  };
  return {
    operationId,
    tags: ['Service'],
    summary: description,
    security: [],
    responses: {
      200: success(description, schema, { status: { value: { status } } }),
      ...refusals(everywhere),
    },
  };
}

const livez = statusOperation('livez', 'alive', 'The process answers.');
const readyz = statusOperation('readyz', 'ready', 'The process can do its work.');

/** A schema as plain JSON, in which other components are references. */
function componentSchema(schema: object): unknown {
  const { $id: _ownName, ...rest } = JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;
  return withReferences(rest);
}

function withReferences(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withReferences);
  if (typeof node !== 'object' || node === null) return node;
  if ('$id' in node && typeof node.$id === 'string') return { $ref: `#/components/schemas/${node.$id}` };
  return Object.fromEntries(Object.entries(node).map(([name, value]) => [name, withReferences(value)]));
}
