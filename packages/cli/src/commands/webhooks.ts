import {
  deliveryStates,
  webhookTypes,
  type CreateWebhookRequest,
  type DeliveryState,
  type OperatorDelivery,
  type OperatorDeliveryDetail,
  type OperatorWebhook,
  type WebhookType,
  type WebhookWithSecret,
} from '@trunkcall/contract';
import { Option, type Command } from 'commander';
import type { Context } from '../program.ts';
import { fields, printable, section, shortTime, table } from '../report.ts';

interface AddOptions {
  readonly account: string;
  readonly type?: WebhookType[];
  readonly description?: string;
  readonly signed?: true;
}

interface DeliveriesOptions {
  readonly webhook?: string;
  readonly call?: string;
  readonly state?: DeliveryState;
}

export function webhookCommands(group: Command, context: Context): void {
  endpointCommands(group, context);
  deliveryCommands(group, context);
}

function endpointCommands(group: Command, { connect, report }: Context): void {
  group
    .command('add')
    .description('have the ends of an account’s calls sent to a URL; its secret is shown this once')
    .argument('<url>', 'https URL of a public address')
    .requiredOption('--account <account>', 'id or name of the account')
    .addOption(new Option('--type <type...>', 'which events it wants (default: all)').choices(webhookTypes))
    .option('--description <text>', 'for people')
    .option('--signed', 'sign deliveries (Standard Webhooks)')
    .action(async (url: string, options: AddOptions) => {
      const client = await connect();
      report.print(await client.createWebhook(requestFrom(url, options)), secretFields);
    });

  group
    .command('list')
    .description('list webhook endpoints')
    .option('--account <account>', 'only those of one account')
    .action(async ({ account }: { account?: string }) => {
      const client = await connect();
      const page = await client.listWebhooks(account === undefined ? {} : { account });
      report.print(page, ({ data }) => endpointTable(data));
    });

  for (const [action, description] of [
    ['disable', 'send nothing to an endpoint any more'],
    ['enable', 'use an endpoint again'],
  ] as const) {
    group
      .command(action)
      .description(description)
      .argument('<webhook_id>')
      .action(async (id: string) => {
        const client = await connect();
        report.print(await client.switchWebhook(id, action), endpointFields);
      });
  }

  group
    .command('remove')
    .description('forget an endpoint; what was to be sent to it is abandoned')
    .argument('<webhook_id>')
    .action(async (id: string) => {
      const client = await connect();
      report.print(await client.removeWebhook(id), endpointFields);
    });

  group
    .command('rotate-secret')
    .description('sign with a new secret, for a day beside the one before; it is shown this once')
    .argument('<webhook_id>')
    .action(async (id: string) => {
      const client = await connect();
      report.print(await client.rotateWebhookSecret(id), secretFields);
    });

  group
    .command('test')
    .description('send a test event to an endpoint')
    .argument('<webhook_id>')
    .action(async (id: string) => {
      const client = await connect();
      report.print(await client.testWebhook(id), deliveryFields);
    });
}

function deliveryCommands(group: Command, { connect, report }: Context): void {
  group
    .command('deliveries')
    .description('list the newest deliveries')
    .option('--webhook <webhook_id>', 'only those to one endpoint')
    .option('--call <call_id>', 'only those of one call or Run')
    .addOption(new Option('--state <state>', 'only those in one state').choices(deliveryStates))
    .action(async (options: DeliveriesOptions) => {
      const client = await connect();
      report.print(await client.listDeliveries({ ...options }), ({ data }) => deliveryTable(data));
    });

  group
    .command('delivery')
    .description('show a delivery with what is sent and its tries')
    .argument('<delivery_id>')
    .action(async (id: string) => {
      const client = await connect();
      report.print(await client.getDelivery(id), deliveryDetail);
    });

  group
    .command('replay')
    .description('send a delivery again, with the same event id')
    .argument('<delivery_id>')
    .action(async (id: string) => {
      const client = await connect();
      report.print(await client.replayDelivery(id), deliveryFields);
    });
}

function requestFrom(url: string, { account, type, description, signed }: AddOptions): CreateWebhookRequest {
  return {
    account,
    url,
    ...(type === undefined ? {} : { types: type }),
    ...(description === undefined ? {} : { description }),
    ...(signed === undefined ? {} : { signed }),
  };
}

function stateOf({ enabled, disabled_reason, failing_since }: OperatorWebhook): string {
  if (!enabled) return `disabled (${disabled_reason})`;
  return failing_since === null ? 'enabled' : `failing since ${shortTime(failing_since)}`;
}

function endpointTable(endpoints: readonly OperatorWebhook[]): string {
  const rows = endpoints.map((endpoint) => [
    endpoint.id,
    stateOf(endpoint),
    endpoint.signed ? 'yes' : 'no',
    endpoint.url,
    endpoint.description,
  ]);
  return table(['ID', 'STATE', 'SIGNED', 'URL', 'DESCRIPTION'], rows);
}

function endpointFields(endpoint: OperatorWebhook): string {
  return fields({
    id: endpoint.id,
    account: endpoint.account_id,
    url: endpoint.url,
    description: endpoint.description || null,
    types: endpoint.types.join(' '),
    state: stateOf(endpoint),
  });
}

function secretFields({ secret, ...endpoint }: WebhookWithSecret): string {
  return secret === null ? endpointFields(endpoint) : `${fields({ secret })}\n${endpointFields(endpoint)}`;
}

const lastAnswer = ({ last_status, last_error }: OperatorDelivery): string =>
  String(last_status ?? last_error ?? '');

function deliveryTable(deliveries: readonly OperatorDelivery[]): string {
  const rows = deliveries.map((delivery) => [
    delivery.id,
    delivery.state,
    delivery.type,
    String(delivery.tries),
    lastAnswer(delivery),
    shortTime(delivery.created_at),
    delivery.webhook_id ?? delivery.url,
  ]);
  return table(['ID', 'STATE', 'TYPE', 'TRIES', 'LAST', 'CREATED', 'TO'], rows);
}

function deliveryFields(delivery: OperatorDelivery): string {
  return fields({
    id: delivery.id,
    event: delivery.event_id,
    type: delivery.type,
    call: delivery.call_id,
    webhook: delivery.webhook_id,
    url: delivery.url,
    state: delivery.state,
    tries: delivery.tries,
    'last answer': lastAnswer(delivery) || null,
    'next try': delivery.next_try_at === null ? null : shortTime(delivery.next_try_at),
    ended: delivery.ended_at === null ? null : shortTime(delivery.ended_at),
  });
}

function deliveryDetail(delivery: OperatorDeliveryDetail): string {
  const tries = delivery.try_log.map(({ started_at, duration_ms, status, error, response }) => [
    shortTime(started_at),
    `${duration_ms} ms`,
    String(status ?? error ?? ''),
    (response ?? '').slice(0, 60),
  ]);
  return [
    deliveryFields(delivery),
    section('Tries', table(['STARTED', 'TOOK', 'ANSWER', 'RESPONSE'], tries)),
    section('Body', printable(delivery.body)),
  ].join('\n\n');
}
