/** The operations of calls without a Goal: one-shot calls and the deprecated call tasks. */
import {
  headerReference,
  json,
  pathParameter,
  reference,
  refusals,
  success,
  withKey,
  type Json,
} from './openapi-parts.ts';

const ids = {
  call: 'call_06bq5m8a1j7w1q0s2v4x6z8bn2',
  recipient: 'rcp_06bq5m8a1j7w1k3m5n7p9r2tv6',
  attempt: 'att_06bq5m8m5j7w1a2c4e6g8j0mp3',
  event: 'evt_06bq5m8m5j7w1c4e6g8j0mp3r7',
};

const callId = pathParameter(
  'call_id',
  'The call’s `id`; it stays with the interface that made it.',
  ids.call,
);

const schemaExample: Json = {
  type: 'object',
  properties: { suits: { type: 'boolean', description: 'whether Tuesday suits' } },
  required: ['suits'],
};

const transcript: Json[] = [
  { offset_seconds: 3, speaker: 'user', text: 'Hello?' },
  {
    offset_seconds: 5,
    speaker: 'bot',
    text: 'Hello, this is an automated assistant calling for Example Ltd. Does Tuesday suit you?',
  },
  { offset_seconds: 12, speaker: 'user', text: 'Yes, Tuesday is fine.' },
];

const acceptedCall: Json = {
  id: ids.call,
  object: 'call',
  call_id: ids.call,
  status: 'queued',
  call_outcome: null,
  result_status: 'pending',
  task: 'Ask Ada whether the delivery on Tuesday suits.',
  phone: '+12025550100',
  region: 'US',
  locale: 'en-US',
  transcript: [],
  result: null,
  error: null,
  metadata: { order: 'A-1042' },
  created_at: '2026-03-02T09:30:00.000Z',
  completed_at: null,
};

const callExamples: Json = {
  queued: { summary: 'Accepted', value: acceptedCall },
  completed: {
    summary: 'Finished with a result',
    value: {
      ...acceptedCall,
      status: 'completed',
      call_outcome: 'completed',
      result_status: 'available',
      transcript,
      result: { suits: true },
      completed_at: '2026-03-02T09:31:12.000Z',
    },
  },
};

const taskExamples: Json = {
  completed: {
    summary: 'Finished',
    value: {
      id: ids.call,
      object: 'call_task',
      status: 'completed',
      task: 'Call Ada at +12025550100 and ask whether the delivery on Tuesday suits.',
      recipients: [
        {
          id: ids.recipient,
          phones: ['+12025550100'],
          locale: 'en-US',
          region: 'US',
          status: 'completed',
          structured_result: null,
          summary: 'The recipient was reached. Answers: suits: yes.',
          attempts: [
            {
              id: ids.attempt,
              phone: '+12025550100',
              status: 'completed',
              started_at: '2026-03-02T09:30:01.000Z',
              completed_at: '2026-03-02T09:31:12.000Z',
              summary: null,
              transcript_turns: transcript,
              provider_call_id: null,
              failure_code: null,
              failure_message: null,
            },
          ],
        },
      ],
      structured_result: { suits: true },
      summary: 'The recipient was reached. Answers: suits: yes.',
      task_completed: true,
      completion_confidence: { score: 0.95, label: 'high' },
      evidence: ['Yes, Tuesday is fine.'],
      metadata: {},
      failure_code: null,
      failure_message: null,
      created_at: '2026-03-02T09:30:00.000Z',
      completed_at: '2026-03-02T09:31:13.000Z',
    },
  },
};

const eventExamples: Json = {
  page: {
    value: {
      object: 'list',
      data: [
        {
          id: ids.event,
          type: 'call.connected',
          call_id: ids.call,
          created_at: '2026-03-02T09:30:04.000Z',
          level: 'info',
          status: 'in_progress',
          message: 'The call was answered.',
          details: { attempt_id: ids.attempt },
        },
      ],
      next_cursor: null,
    },
  },
};

const idempotencyKey = (required: boolean, description: string): Json => ({
  name: 'Idempotency-Key',
  in: 'header',
  required,
  description,
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: 'delivery-7412-ask',
});

const eventParameters: Json[] = [
  {
    name: 'cursor',
    in: 'query',
    description: 'The previous page’s `next_cursor`, unchanged, or the id of the last event that was seen.',
    schema: { type: 'string' },
  },
  {
    name: 'limit',
    in: 'query',
    description: 'How many events a page holds.',
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 },
  },
];

const created: Json = {
  Location: headerReference('Location'),
  'Retry-After': headerReference('RetryAfter'),
  'Idempotency-Replayed': headerReference('IdempotencyReplayed'),
};

const createCall: Json = {
  operationId: 'createCall',
  tags: ['Calls'],
  summary: 'Start a one-shot call',
  description:
    'Accepts one phone call to one number durably; no Goal is needed. The same key with the same request answers with the same call, as it stands; a rejection does not bind the key. Scope: `calls:write`.',
  parameters: [idempotencyKey(true, 'Names this call, once and for all; 1–255 characters after trimming.')],
  requestBody: {
    required: true,
    description: 'At most 256 KiB.',
    content: json(reference('CallRequest'), {
      request: {
        value: {
          task: 'Ask Ada whether the delivery on Tuesday suits.',
          phone: '+12025550100',
          result_schema: schemaExample,
        },
      },
    }),
  },
  responses: {
    202: success('Accepted, now or before.', reference('Call'), callExamples, created),
    ...refusals([
      ...withKey,
      'idempotency_conflict',
      'payload_too_large',
      'invalid_phone',
      'result_schema_invalid',
      'input_incomplete',
      'call_not_ready',
      'invalid_webhook_url',
    ]),
  },
};

const getCall: Json = {
  operationId: 'getCall',
  tags: ['Calls'],
  summary: 'Get a one-shot call',
  description:
    'The call as it stands; a pure read. It is finished when `result_status` is not `pending`. Scope: `calls:read`.',
  responses: {
    200: success('The call.', reference('Call'), callExamples, {
      'Retry-After': headerReference('RetryAfter'),
    }),
    ...refusals([...withKey, 'not_found']),
  },
};

const cancelCall: Json = {
  operationId: 'cancelCall',
  tags: ['Calls'],
  summary: 'Cancel a one-shot call',
  description: 'Takes a call back that has not been dialled. Safe to repeat. Scope: `calls:write`.',
  responses: {
    200: success('The canceled call.', reference('Call'), callExamples),
    ...refusals([...withKey, 'not_found', 'call_cannot_cancel']),
  },
};

const listCallEvents: Json = {
  operationId: 'listCallEvents',
  tags: ['Calls'],
  summary: 'List the events of a one-shot call',
  description:
    'The trace, oldest first. With `Accept: text/event-stream` it is streamed as it grows, until the call is final; `Last-Event-ID` goes on behind an event. Scope: `calls:read`.',
  parameters: [
    ...eventParameters,
    {
      name: 'Last-Event-ID',
      in: 'header',
      description: 'Of a stream: the last event that was seen.',
      schema: { type: 'string' },
    },
  ],
  responses: {
    200: eventPage(true),
    ...refusals([...withKey, 'not_found']),
  },
};

/** A page of events; also as a stream where that is offered. */
function eventPage(streamed: boolean): Json {
  const page = success('Events.', reference('CallEventList'), eventExamples) as { readonly content: Json };
  if (!streamed) return page;
  const stream = { schema: { type: 'string', description: 'One frame for each event: id, event, data.' } };
  return { ...page, content: { ...page.content, 'text/event-stream': stream } };
}

const createCallTask: Json = {
  operationId: 'createCallTask',
  tags: ['Call tasks'],
  deprecated: true,
  summary: 'Start a call task',
  description:
    'Accepts a task for one or more recipients durably. Without `recipients` the numbers are read from `task`. The same key with the same request answers with the same task, or again with what it was refused for. Scope: `calls:write`.',
  parameters: [idempotencyKey(false, 'Names this task, once and for all; 1–255 characters after trimming.')],
  requestBody: {
    required: true,
    description: 'At most 256 KiB.',
    content: json(reference('CallTaskRequest'), {
      request: {
        value: {
          task: 'Call Ada at +12025550100 and ask whether the delivery on Tuesday suits.',
          result_schema: schemaExample,
        },
      },
    }),
  },
  responses: {
    201: success('Accepted, now or before.', reference('CallTask'), taskExamples, created),
    ...refusals([
      ...withKey,
      'gone',
      'idempotency_conflict',
      'payload_too_large',
      'invalid_phone',
      'result_schema_invalid',
      'recipient_result_schema_invalid',
      'call_not_ready',
      'invalid_webhook_url',
    ]),
  },
};

const getCallTask: Json = {
  operationId: 'getCallTask',
  tags: ['Call tasks'],
  deprecated: true,
  summary: 'Get a call task',
  description:
    'The task as it stands; a pure read. It is final when `completed_at` is set. Scope: `calls:read`.',
  responses: {
    200: success('The call task.', reference('CallTask'), taskExamples, {
      'Retry-After': headerReference('RetryAfter'),
    }),
    ...refusals([...withKey, 'not_found', 'gone']),
  },
};

const listCallTaskEvents: Json = {
  operationId: 'listCallTaskEvents',
  tags: ['Call tasks'],
  deprecated: true,
  summary: 'List the events of a call task',
  description: 'The trace, oldest first. Scope: `calls:read`.',
  parameters: eventParameters,
  responses: { 200: eventPage(false), ...refusals([...withKey, 'not_found', 'gone']) },
};

export const callPaths: Json = {
  '/v2/calls': { post: createCall },
  '/v2/calls/{call_id}': { parameters: [callId], get: getCall },
  '/v2/calls/{call_id}/events': { parameters: [callId], get: listCallEvents },
  '/v2/calls/{call_id}/cancel': { parameters: [callId], post: cancelCall },
  '/v1/calls': { post: createCallTask },
  '/v1/calls/{call_id}': { parameters: [callId], get: getCallTask },
  '/v1/calls/{call_id}/events': { parameters: [callId], get: listCallTaskEvents },
};
