import { afterEach, expect, test } from 'vitest';
import { OperatorClient, TrunkcallError, TrunkcallUnreachable } from '../src/index.ts';
import { refusal, scriptedServer, type Reply, type ScriptedServer } from './scripted-server.ts';

let server: ScriptedServer | undefined;
afterEach(() => server?.close());

const progress = (position: string, final: boolean) => ({ body: { events: [], turns: [], position, final } });

async function against(replies: readonly Reply[]) {
  server = await scriptedServer(replies);
  const client = new OperatorClient({
    baseUrl: server.origin,
    operatorToken: 'tc_op_x',
    sleep: async () => {},
  });
  return { client, sent: server.sent };
}

test('a command whose fate is unknown is not sent again', async () => {
  const unavailable = await against([refusal(503, 'provider_unavailable')]);
  await expect(unavailable.client.commandGoal('goal_1', 'publish')).rejects.toBeInstanceOf(TrunkcallError);
  expect(unavailable.sent).toHaveLength(1);
  await server?.close();
  const cut = await against([{ instead: 'cut' }]);
  await expect(cut.client.createAccount('a')).rejects.toBeInstanceOf(TrunkcallUnreachable);
  expect(cut.sent).toHaveLength(1);
});

test('a command that was refused unprocessed is sent again', async () => {
  const { client, sent } = await against([refusal(429, 'rate_limit_exceeded'), { body: { id: 'goal_1' } }]);
  await expect(client.commandGoal('goal_1', 'publish')).resolves.toEqual({ id: 'goal_1' });
  expect(sent).toHaveLength(2);
});

async function all<T>(lines: AsyncIterable<T>): Promise<T[]> {
  const read: T[] = [];
  for await (const line of lines) read.push(line);
  return read;
}

test('a test is given line by line, and one that breaks off is no end', async () => {
  const whole = await against([{ body: '{"object":"callee_test"}\n{"object":"goal_test"}\n' }]);
  const lines = await all(whole.client.testGoal({ text: 'é', mediaType: 'application/yaml' }));
  expect(lines).toEqual([{ object: 'callee_test' }, { object: 'goal_test' }]);
  expect(whole.sent).toMatchObject([
    {
      method: 'POST',
      url: '/operator/v1/goals/test',
      body: 'é',
      headers: { 'content-type': 'application/yaml', authorization: 'Bearer tc_op_x' },
    },
  ]);
  await server?.close();
  const half = await against([{ body: '{"object":"callee_test"}\n{"object":' }]);
  expect(await all(half.client.testGoal('goal_1', { agent: 'cascade' }))).toHaveLength(1);
  expect(half.sent[0]?.url).toBe('/operator/v1/goals/goal_1/test?agent=cascade');
});

test('a Goal file travels as it is, with its media type', async () => {
  const { client, sent } = await against([{ body: {} }]);
  await client.applyGoal('a & b', { text: 'title: é', mediaType: 'application/yaml' });
  await client.applyGoal('a', { text: '{}', mediaType: 'application/json' }, 'goal_1');
  expect(sent).toMatchObject([
    {
      method: 'POST',
      url: '/operator/v1/goals?account=a+%26+b',
      body: 'title: é',
      headers: { 'content-type': 'application/yaml' },
    },
    {
      method: 'PUT',
      url: '/operator/v1/goals/goal_1/draft?account=a',
      headers: { 'content-type': 'application/json' },
    },
  ]);
});

test('webhooks and deliveries have their paths', async () => {
  const { client, sent } = await against([{ body: {} }]);
  await client.createWebhook({ account: 'a', url: 'https://x.example/' });
  await client.listWebhooks({ account: 'a b' });
  await client.getWebhook('whe_1');
  await client.switchWebhook('whe_1', 'disable');
  await client.rotateWebhookSecret('whe_1');
  await client.testWebhook('whe_1');
  await client.listDeliveries({ webhook: 'whe_1', state: 'failed', limit: 5 });
  await client.getDelivery('dlv_1');
  await client.replayDelivery('dlv_1');
  expect(sent.map(({ method, url }) => `${method} ${url.replace('/operator/v1', '')}`)).toEqual([
    'POST /webhooks',
    'GET /webhooks?account=a+b',
    'GET /webhooks/whe_1',
    'POST /webhooks/whe_1/disable',
    'POST /webhooks/whe_1/rotate_secret',
    'POST /webhooks/whe_1/test',
    'GET /webhook_deliveries?webhook=whe_1&state=failed&limit=5',
    'GET /webhook_deliveries/dlv_1',
    'POST /webhook_deliveries/dlv_1/replay',
  ]);
});

test('a watch goes on from the position of the last answer, also after a lost connection, until the end', async () => {
  const { client, sent } = await against([
    progress('1.0.-1', false),
    { instead: 'cut' },
    progress('2.1.0', true),
  ]);
  const seen: string[] = [];
  for await (const { position } of client.watchRun('grun_1')) seen.push(position);
  expect(seen).toEqual(['1.0.-1', '2.1.0']);
  expect(sent.map(({ url }) => new URL(url, 'http://x').searchParams.get('after'))).toEqual([
    null,
    '1.0.-1',
    '1.0.-1',
  ]);
});
