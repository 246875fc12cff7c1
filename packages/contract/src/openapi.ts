/**
 * The OpenAPI 3.1 document of the Developer API, made from the schemas that the service itself uses.
 */
import {
  CallEvent,
  CallEventList,
  CallTask,
  CallTaskRequest,
  OneShotCall,
  OneShotCallRequest,
} from './calls.ts';
import { goalRunErrors } from './errors.ts';
import { callPaths } from './openapi-calls.ts';
import {
  componentSchema,
  documentVersion,
  everywhere,
  headerReference,
  headers,
  json,
  pathParameter,
  reference,
  refusals,
  success,
  withKey,
  type Json,
} from './openapi-parts.ts';
import { ErrorEnvelope, Goal, GoalList, GoalRun, GoalRunRequest } from './schemas.ts';

export interface OpenApiOptions {
  /** Absolute address of the service; by default the address that served the document. */
  readonly baseUrl?: string;
}

const components = {
  Goal,
  GoalList,
  GoalRun,
  GoalRunRequest,
  Call: OneShotCall,
  CallRequest: OneShotCallRequest,
  CallTask,
  CallTaskRequest,
  CallEvent,
  CallEventList,
  Error: ErrorEnvelope,
} as const;

/** Builds the document; plain JSON. */
export function openApiDocument({ baseUrl = '/' }: OpenApiOptions = {}): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Trunkcall Developer API',
      version: documentVersion,
      description:
        'Starts phone calls, from published Goals or with a task in free text, and gives their results. Requests come from servers only: keep API keys out of browsers and apps.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    security: [{ apiKey: [] }],
    tags: [
      { name: 'Goals', description: 'Published phone workflows.' },
      { name: 'Goal Runs', description: 'One call each, started from a Goal.' },
      { name: 'Calls', description: 'One call to one number, with a task in free text and no Goal.' },
      {
        name: 'Call tasks',
        description:
          'Deprecated; they end on 2026-12-31 at 16:00 UTC. A call task for one number becomes a one-shot call (`POST /v2/calls`), one that is repeated becomes a Goal; docs/migrating-from-call-tasks.md shows how.',
      },
      { name: 'Service', description: 'For operators and load balancers.' },
    ],
    paths: {
      '/v1/goals': { get: listGoals },
      '/v1/goals/{goal_id}': { parameters: [goalId], get: getGoal },
      '/v1/goals/{goal_id}/runs': { parameters: [goalId], post: createGoalRun },
      '/v1/goals/{goal_id}/runs/{goal_run_id}': { parameters: [goalId, goalRunId], get: getGoalRun },
      ...callPaths,
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

const goalId = pathParameter('goal_id', 'The Goal’s `id`.', exampleIds.goal);
const goalRunId = pathParameter(
  'goal_run_id',
  'The Goal Run’s `id`; a `run_id` is not accepted.',
  exampleIds.goalRun,
);

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
