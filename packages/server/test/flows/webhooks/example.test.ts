import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { freshDatabase } from '../../kit/database.ts';
import { createWebhookHarness, until } from './harness.ts';

const program = fileURLToPath(
  new URL('../../../../../examples/webhook-receiver/receiver.ts', import.meta.url),
);
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

async function startExample(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [program], {
    env: { PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  cleanUp.push(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const origin = await until(() => lines[0]?.replace('listening on ', ''));
  return { origin, lines };
}

it('the example receiver takes what the service sends, once, and nothing that is forged', async () => {
  const test = await freshDatabase('embedded');
  cleanUp.push(() => test.close());
  const { origin, lines } = await startExample({ WEBHOOK_SECRET: secret });
  const harness = await createWebhookHarness({ db: test.db, allow: [new URL(origin).host] });
  cleanUp.push(() => harness.stop());
  const { endpoint } = await harness.endpoints.create({
    accountId: harness.accountId,
    url: `${origin}/`,
    types: null,
    description: '',
    signed: true,
  });
  await test.db.query(
    { name: 'test_known_secret', text: 'update webhook_endpoints set secret = $1 where id = $2' },
    [secret, endpoint.id],
  );
  await harness.start();

  const { eventId, callId } = await harness.publish();
  await until(() => lines.includes(`new ${eventId} call.completed ${callId} -`));
  const delivery = await until(async () =>
    (await harness.deliveries()).find(({ state }) => state === 'delivered'),
  );
  await harness.endpoints.replay(delivery.id);
  await until(() => lines.includes(`again ${eventId} call.completed ${callId} -`));
  await harness.endpoints.test(endpoint.id);
  await until(() => lines.some((line) => line.includes('webhook.test')));

  const before = lines.length;
  const body = JSON.stringify({ id: 'evt_1', type: 'call.completed', data: {} });
  const forged = (headers: Record<string, string>) =>
    fetch(origin, { method: 'POST', body, headers: { 'trunkcall-event-id': 'evt_1', ...headers } });
  expect((await forged({})).status).toBe(401);
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(Date.now() / 1_000)),
    'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
  };
  expect((await forged(headers)).status).toBe(401);
  expect(lines).toHaveLength(before);
});

it('the example receiver without a secret still compares the ids', async () => {
  const { origin, lines } = await startExample({});
  const send = (id: string, body: string) =>
    fetch(origin, { method: 'POST', body, headers: { 'trunkcall-event-id': id } });
  const body = JSON.stringify({ id: 'evt_1', type: 'call.failed', data: { id: 'call_1', status: 'failed' } });
  expect((await send('evt_2', body)).status).toBe(400);
  expect((await send('evt_1', 'not JSON')).status).toBe(400);
  expect((await send('evt_1', 'null')).status).toBe(400);
  expect((await send('evt_1', body)).status).toBe(204);
  await until(() => lines.includes('new evt_1 call.failed call_1 failed'));
});
