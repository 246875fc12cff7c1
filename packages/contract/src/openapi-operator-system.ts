/** Operations of the operator API on webhooks, processes, trunks and the deployment itself. */
import {
  answer,
  body,
  exampleIds,
  inPath,
  ofAccount,
  operation,
  page,
  query,
} from './openapi-operator-parts.ts';
import type { Json } from './openapi-parts.ts';
import { DoctorReport, OperatorWorker, SystemReport } from './operator-system.ts';
import { OperatorTestCall, OperatorTrunk, TestCallRequest } from './operator-trunks.ts';
import {
  CreateWebhookRequest,
  deliveryStates,
  OperatorDelivery,
  OperatorDeliveryDetail,
  OperatorWebhook,
  WebhookWithSecret,
} from './operator-webhooks.ts';
import { listOf } from './schemas.ts';

const webhookExample: Json = {
  id: exampleIds.webhook,
  account_id: exampleIds.account,
  url: 'https://calls.example.com/hooks',
  types: ['call.completed', 'call.failed'],
  description: 'Orders',
  signed: true,
  previous_secret_until: null,
  enabled: true,
  disabled_at: null,
  disabled_reason: null,
  failing_since: null,
  created_at: '2026-03-02T09:30:00.000Z',
};

/** One command to an endpoint that answers with it. */
const webhookCommand = (operationId: string, summary: string, description: string): Json => ({
  parameters: [inPath.webhook],
  post: operation({
    operationId,
    tag: 'Webhooks',
    summary,
    description,
    answers: { 200: answer('The endpoint.', OperatorWebhook, webhookExample) },
    refuses: ['not_found'],
  }),
});

const webhooks: Json = {
  '/webhooks': {
    post: operation({
      operationId: 'createWebhook',
      tag: 'Webhooks',
      summary: 'Create a webhook endpoint',
      description: 'The answer shows the secret of a signed one.',
      requestBody: body(CreateWebhookRequest, {
        account: 'Example Ltd',
        url: 'https://calls.example.com/hooks',
        types: ['call.completed', 'call.failed'],
        signed: true,
      }),
      answers: { 201: answer('The new endpoint.', WebhookWithSecret) },
      refuses: ['not_found', 'invalid_webhook_url', 'payload_too_large'],
    }),
    get: operation({
      operationId: 'listWebhooks',
      tag: 'Webhooks',
      summary: 'List webhook endpoints, oldest first',
      parameters: [ofAccount, ...page],
      answers: { 200: answer('A page of endpoints.', listOf(OperatorWebhook)) },
      refuses: ['not_found'],
    }),
  },
  '/webhooks/{webhook_id}': {
    parameters: [inPath.webhook],
    get: operation({
      operationId: 'getWebhook',
      tag: 'Webhooks',
      summary: 'Get a webhook endpoint',
      answers: { 200: answer('The endpoint.', OperatorWebhook, webhookExample) },
      refuses: ['not_found'],
    }),
  },
  '/webhooks/{webhook_id}/disable': webhookCommand(
    'disableWebhook',
    'Send nothing to an endpoint any more',
    'What becomes due meanwhile is abandoned.',
  ),
  '/webhooks/{webhook_id}/enable': webhookCommand(
    'enableWebhook',
    'Send to an endpoint again',
    'Also after the service has disabled it.',
  ),
  '/webhooks/{webhook_id}/remove': webhookCommand(
    'removeWebhook',
    'Forget an endpoint',
    'What was to be sent to it is abandoned.',
  ),
  '/webhooks/{webhook_id}/rotate_secret': {
    parameters: [inPath.webhook],
    post: operation({
      operationId: 'rotateWebhookSecret',
      tag: 'Webhooks',
      summary: 'Give an endpoint a new secret',
      description: 'The one before signs as well until `previous_secret_until`.',
      answers: { 200: answer('The endpoint with its new secret, shown here alone.', WebhookWithSecret) },
      refuses: ['not_found', 'webhook_conflict'],
    }),
  },
  '/webhooks/{webhook_id}/test': {
    parameters: [inPath.webhook],
    post: operation({
      operationId: 'testWebhook',
      tag: 'Webhooks',
      summary: 'Send a test event to an endpoint',
      answers: { 202: answer('The delivery.', OperatorDelivery) },
      refuses: ['not_found', 'webhook_conflict'],
    }),
  },
  '/webhook_deliveries': {
    get: operation({
      operationId: 'listDeliveries',
      tag: 'Webhooks',
      summary: 'List webhook deliveries, newest first',
      parameters: [
        query('webhook', 'Id of the endpoint; not together with `call`.'),
        query('call', 'Id of the call, or of the Run.'),
        query('state', 'Only those.', { type: 'string', enum: [...deliveryStates] }),
        ...page,
      ],
      answers: { 200: answer('A page of deliveries.', listOf(OperatorDelivery)) },
    }),
  },
  '/webhook_deliveries/{delivery_id}': {
    parameters: [inPath.delivery],
    get: operation({
      operationId: 'getDelivery',
      tag: 'Webhooks',
      summary: 'Get a delivery with its body and its tries',
      answers: { 200: answer('The delivery.', OperatorDeliveryDetail) },
      refuses: ['not_found'],
    }),
  },
  '/webhook_deliveries/{delivery_id}/replay': {
    parameters: [inPath.delivery],
    post: operation({
      operationId: 'replayDelivery',
      tag: 'Webhooks',
      summary: 'Send a delivery once more',
      answers: { 202: answer('The delivery.', OperatorDelivery) },
      refuses: ['not_found', 'webhook_conflict'],
    }),
  },
};

const workerCommand = (operationId: string, summary: string): Json => ({
  parameters: [inPath.worker],
  post: operation({
    operationId,
    tag: 'Deployment',
    summary,
    description: 'The process follows within seconds.',
    answers: { 202: answer('The process.', OperatorWorker) },
    refuses: ['not_found'],
  }),
});

const testCallExample: Json = {
  id: exampleIds.testCall,
  trunk: 'north',
  phone: '+•••••••••00',
  state: 'waiting',
  outcome: null,
  ended_by: null,
  sip_status: null,
  q850: null,
  note: null,
  provider_call_id: null,
  worker_id: null,
  steps: [],
  media: null,
  created_at: '2026-03-02T09:30:00.000Z',
  ended_at: null,
};

const deployment: Json = {
  '/workers': {
    get: operation({
      operationId: 'listWorkers',
      tag: 'Deployment',
      summary: 'List the processes of the deployment, oldest first',
      answers: { 200: answer('All processes, whole.', listOf(OperatorWorker)) },
    }),
  },
  '/workers/{worker_id}/drain': workerCommand('drainWorker', 'Have a process take no new calls'),
  '/workers/{worker_id}/resume': workerCommand('resumeWorker', 'Have a process take calls again'),
  '/trunks': {
    get: operation({
      operationId: 'listTrunks',
      tag: 'Trunks',
      summary: 'List trunks with their state',
      answers: { 200: answer('All trunks, whole.', listOf(OperatorTrunk)) },
    }),
  },
  '/trunks/{trunk}/test_calls': {
    parameters: [inPath.trunk],
    post: operation({
      operationId: 'testTrunk',
      tag: 'Trunks',
      summary: 'Have a short call placed over one trunk',
      description: 'It plays an announcement. One at a time for each trunk.',
      requestBody: body(TestCallRequest, { phone: '+12025550100' }),
      answers: { 202: answer('The test call.', OperatorTestCall, testCallExample) },
      refuses: ['not_found', 'invalid_phone', 'test_call_conflict', 'payload_too_large'],
    }),
  },
  '/test_calls/{test_call_id}': {
    parameters: [inPath.testCall],
    get: operation({
      operationId: 'getTestCall',
      tag: 'Trunks',
      summary: 'Get a test call as it stands',
      answers: { 200: answer('The test call.', OperatorTestCall, testCallExample) },
      refuses: ['not_found'],
    }),
  },
  '/system': {
    get: operation({
      operationId: 'getSystem',
      tag: 'Deployment',
      summary: 'Look at the deployment: alerts, database, queues, processes, trunks, settings',
      answers: { 200: answer('The deployment.', SystemReport) },
    }),
  },
  '/doctor': {
    get: operation({
      operationId: 'examine',
      tag: 'Deployment',
      summary: 'Check the deployment up',
      answers: { 200: answer('What was found; `problems` is empty when all is well.', DoctorReport) },
    }),
  },
};

export const systemPaths: Json = { ...webhooks, ...deployment };
