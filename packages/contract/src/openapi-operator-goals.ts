/** Operations of the operator API on Goals, their Runs, and calls without a Goal. */
import type { ApiErrorCode } from './errors.ts';
import { directions, GoalFile } from './goal-file.ts';
import { agentKinds, GoalTestLine } from './goal-test.ts';
import {
  answer,
  exampleIds,
  inPath,
  ofAccount,
  operation,
  page,
  query,
  requiredAccount,
} from './openapi-operator-parts.ts';
import { headerReference, json, reference, referring, success, type Json } from './openapi-parts.ts';
import {
  goalActions,
  GoalValidation,
  OperatorGoal,
  OperatorGoalDetail,
  type GoalAction,
} from './operator-goals.ts';
import { OperatorCall, OperatorCallDetail } from './operator-calls.ts';
import { OperatorRun, OperatorRunDetail, RunProgress } from './operator-runs.ts';
import { goalRunStatuses, listOf } from './schemas.ts';

const goalExample: Json = {
  id: exampleIds.goal,
  account_id: exampleIds.account,
  title: 'Confirm a delivery window',
  state: 'active',
  listed: true,
  published_run_spec: { id: 'rspec_06bq5m40rj7w1f3c5d7g9h2jk4', version: 3 },
  latest_version: 3,
  not_ready: [],
  created_at: '2026-03-02T09:30:00.000Z',
  updated_at: '2026-03-04T15:02:11.000Z',
};

const goalFileBody: Json = {
  required: true,
  description: 'A Goal file, format 1, at most 256 KiB. Problems are told with their lines.',
  content: {
    'application/yaml': { schema: { type: 'string', description: 'The same in YAML.' } },
    ...json(referring(GoalFile)),
  },
};

const goalFileRefusals: readonly ApiErrorCode[] = ['not_found', 'goal_invalid', 'payload_too_large'];

const testAnswer = {
  ...success(
    'One line for each callee as its call is over, then the summary. Without the summary the test has broken off.',
    {},
  ),
  content: { 'application/x-ndjson': { schema: referring(GoalTestLine) } },
};
const testAgent = query('agent', 'Who speaks instead of the Goal’s own agent.', {
  type: 'string',
  enum: [...agentKinds],
});

const commands: Record<
  GoalAction,
  { readonly operationId: string; readonly summary: string; readonly more: readonly ApiErrorCode[] }
> = {
  publish: {
    operationId: 'publishGoal',
    summary: 'Publish the draft as the next version',
    more: ['goal_invalid'],
  },
  unpublish: { operationId: 'unpublishGoal', summary: 'Withdraw what is published', more: [] },
  pause: { operationId: 'pauseGoal', summary: 'Take no new Runs for a while', more: [] },
  resume: { operationId: 'resumeGoal', summary: 'Take Runs again', more: [] },
  retire: { operationId: 'retireGoal', summary: 'Take no Runs ever again', more: [] },
  hide: { operationId: 'hideGoal', summary: 'Show the Goal to no API client', more: [] },
  list_publicly: {
    operationId: 'listGoalPublicly',
    summary: 'Show the Goal to the API clients of its account',
    more: [],
  },
};

const commandPaths: Json = Object.fromEntries(
  goalActions.map((action) => {
    const { more, ...named } = commands[action];
    const post = operation({
      ...named,
      tag: 'Goals',
      answers: { 200: answer('The Goal.', OperatorGoal, goalExample) },
      refuses: ['not_found', 'goal_state_conflict', ...more],
    });
    return [`/goals/{goal_id}/${action}`, { parameters: [inPath.goal], post }];
  }),
);

const goals: Json = {
  '/goals': {
    post: operation({
      operationId: 'createGoal',
      tag: 'Goals',
      summary: 'Write a Goal file as the draft of a new Goal',
      parameters: [requiredAccount],
      requestBody: goalFileBody,
      answers: { 201: answer('The new Goal.', OperatorGoal, goalExample) },
      refuses: goalFileRefusals,
    }),
    get: operation({
      operationId: 'listGoals',
      tag: 'Goals',
      summary: 'List Goals, oldest first',
      parameters: [ofAccount, ...page],
      answers: { 200: answer('A page of Goals.', listOf(OperatorGoal)) },
      refuses: ['not_found'],
    }),
  },
  '/goals/validate': {
    post: operation({
      operationId: 'validateGoal',
      tag: 'Goals',
      summary: 'Say what is wrong with a Goal file',
      description: 'Nothing is kept.',
      requestBody: goalFileBody,
      answers: {
        200: answer('What is wrong, if anything.', GoalValidation, { problems: [], not_ready: [] }),
      },
      refuses: ['payload_too_large'],
    }),
  },
  '/goals/test': {
    post: operation({
      operationId: 'testGoalFile',
      tag: 'Goals',
      summary: 'Test a Goal file against its scripted callees',
      description: 'Nobody is phoned and nothing is kept.',
      parameters: [testAgent],
      requestBody: goalFileBody,
      answers: { 200: testAnswer },
      refuses: ['goal_invalid', 'goal_not_ready', 'payload_too_large'],
    }),
  },
  '/goals/{goal_id}': {
    parameters: [inPath.goal],
    get: operation({
      operationId: 'getGoal',
      tag: 'Goals',
      summary: 'Get a Goal with its draft and its versions',
      answers: { 200: answer('The Goal.', OperatorGoalDetail) },
      refuses: ['not_found'],
    }),
  },
  '/goals/{goal_id}/draft': {
    parameters: [inPath.goal],
    put: operation({
      operationId: 'replaceDraft',
      tag: 'Goals',
      summary: 'Write a Goal file as the draft of a Goal',
      parameters: [requiredAccount],
      requestBody: goalFileBody,
      answers: { 200: answer('The Goal.', OperatorGoal, goalExample) },
      refuses: [...goalFileRefusals, 'goal_state_conflict'],
    }),
  },
  '/goals/{goal_id}/test': {
    parameters: [inPath.goal],
    post: operation({
      operationId: 'testGoal',
      tag: 'Goals',
      summary: 'Test the draft of a Goal against its scripted callees',
      description: 'Nobody is phoned and nothing is kept.',
      parameters: [testAgent],
      answers: { 200: testAnswer },
      refuses: ['not_found', 'goal_invalid', 'goal_not_ready'],
    }),
  },
  ...commandPaths,
};

const recording = (description: string): Json => ({
  ...success(description, {}),
  content: {
    'audio/wav': {
      schema: {
        type: 'string',
        contentMediaType: 'audio/wav',
        description: '16 bits, 8 kHz; the callee on the left.',
      },
    },
  },
});

const runs: Json = {
  '/runs': {
    get: operation({
      operationId: 'listRuns',
      tag: 'Runs',
      summary: 'List Goal Runs, newest first',
      parameters: [
        query('goal', 'Id of the Goal; all by default.'),
        ofAccount,
        query('status', 'Only those.', { type: 'string', enum: [...goalRunStatuses] }),
        query('direction', 'Only those.', { type: 'string', enum: [...directions] }),
        ...page,
      ],
      answers: { 200: answer('A page of Runs.', listOf(OperatorRun)) },
      refuses: ['not_found'],
    }),
  },
  '/runs/{run}': {
    parameters: [inPath.run],
    get: operation({
      operationId: 'getRun',
      tag: 'Runs',
      summary: 'Get a Run with its attempts, transcript, events and evidence',
      answers: { 200: answer('The Run.', OperatorRunDetail) },
      refuses: ['not_found'],
    }),
  },
  '/runs/{run}/progress': {
    parameters: [inPath.run],
    get: operation({
      operationId: 'watchRun',
      tag: 'Runs',
      summary: 'Wait for what happens to a Run',
      description:
        'Answers when something happened behind `after`, or the wait is over. At most 64 wait at once.',
      parameters: [
        query('after', 'The `position` of the answer before; everything by default.'),
        query('wait_seconds', 'How long to wait.', { type: 'integer', minimum: 0, maximum: 30, default: 20 }),
      ],
      answers: { 200: answer('What happened.', RunProgress) },
      refuses: ['not_found'],
    }),
  },
  '/runs/{run}/recording': {
    parameters: [inPath.run],
    get: operation({
      operationId: 'getRecording',
      tag: 'Runs',
      summary: 'Get the recording of a Run’s call',
      description: 'When the machine that answers has it.',
      parameters: [
        {
          name: 'Range',
          in: 'header',
          description: 'One range of bytes.',
          schema: { type: 'string' },
          example: 'bytes=0-65535',
        },
      ],
      answers: {
        200: recording('All of it.'),
        206: recording('The range.'),
        416: {
          description: '`invalid_request`: the recording has no such range.',
          headers: { 'Request-Id': headerReference('RequestId') },
          content: json(reference('Error')),
        },
      },
      refuses: ['not_found'],
    }),
  },
  '/runs/{run}/cancel': {
    parameters: [inPath.run],
    post: operation({
      operationId: 'cancelRun',
      tag: 'Runs',
      summary: 'Stop a Run',
      description: 'A live call is hung up shortly after.',
      answers: { 202: answer('The Run.', OperatorRun) },
      refuses: ['not_found', 'run_not_cancelable'],
    }),
  },
};

const calls: Json = {
  '/calls': {
    get: operation({
      operationId: 'listCalls',
      tag: 'Calls',
      summary: 'List call tasks and one-shot calls, newest first',
      parameters: [ofAccount, ...page],
      answers: { 200: answer('A page of calls.', listOf(OperatorCall)) },
      refuses: ['not_found'],
    }),
  },
  '/calls/{call_id}': {
    parameters: [inPath.call],
    get: operation({
      operationId: 'getCall',
      tag: 'Calls',
      summary: 'Get a call with its events',
      answers: { 200: answer('The call.', OperatorCallDetail) },
      refuses: ['not_found'],
    }),
  },
  '/calls/{call_id}/cancel': {
    parameters: [inPath.call],
    post: operation({
      operationId: 'cancelCall',
      tag: 'Calls',
      summary: 'Stop a call',
      description: 'Live calls of it are hung up shortly after.',
      answers: { 202: answer('The call.', OperatorCall) },
      refuses: ['not_found', 'call_cannot_cancel'],
    }),
  },
};

export const goalPaths: Json = { ...goals, ...runs, ...calls };
