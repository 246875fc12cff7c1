import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { statement } from '../../src/storage/database.ts';
import { createWebhookHarness, until, type WebhookHarness } from '../flows/webhooks/harness.ts';
import { freshDatabase, type TestDatabase } from '../kit/database.ts';
import { startReceiver, type Receiver } from '../kit/receiver.ts';

const program = fileURLToPath(new URL('webhook-process.ts', import.meta.url));
const authorities = fileURLToPath(new URL('../kit/certificates/authority.pem', import.meta.url));
const holdDeliveries = statement<{ id: string }>('test_hold', `select id from webhook_deliveries for update`);

let test: TestDatabase;
let receiver: Receiver;
let harness: WebhookHarness;
const children: ChildProcess[] = [];
beforeEach(async () => {
  test = await freshDatabase('postgres');
  receiver = await startReceiver();
  harness = await createWebhookHarness({ db: test.db, receivers: [receiver] });
  await harness.endpoint(receiver);
});
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child);
  await receiver.close();
  await test.close();
});

/** A deliverer that gives a try five seconds, and itself another to write down what came of it. */
async function startProcess(): Promise<ChildProcess> {
  const child = spawn(process.execPath, [program], {
    env: { DATABASE_URL: test.url ?? '', ALLOW: `127.0.0.1:${receiver.port}`, AUTHORITIES: authorities },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  await once(child.stdout, 'data');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

const allDelivered = () =>
  until(async () => (await harness.deliveries()).every(({ state }) => state === 'delivered'));

it(
  'an event whose process is killed behind the commit is delivered by the next',
  { timeout: 90_000 },
  async () => {
    const published = await harness.publish();
    // Claimed, and never answered.
    receiver.behave(() => undefined);
    const first = await startProcess();
    await until(() => receiver.got.length === 1);
    await kill(first);
    expect(await harness.deliveries()).toMatchObject([{ state: 'pending' }]);
    receiver.behave((_got, response) => void response.writeHead(200).end());
    await startProcess();
    await allDelivered();
    expect(receiver.got).toHaveLength(2);
    expect(new Set(receiver.got.map(({ body }) => body))).toEqual(new Set([published.body]));
  },
);

it(
  'a process that is killed between the answer and its record repeats the event once, with the same id',
  { timeout: 90_000 },
  async () => {
    const { eventId } = await harness.publish();
    const answered = Promise.withResolvers<undefined>();
    const released = Promise.withResolvers<undefined>();
    let holding: Promise<void> | undefined;
    receiver.behave((_got, response) => {
      // Nothing can be written down from here on.
      holding = test.db.transaction(async (tx) => {
        await tx.query(holdDeliveries);
        response.once('finish', () => answered.resolve(undefined));
        response.writeHead(200).end();
        await released.promise;
      });
    });
    const first = await startProcess();
    await answered.promise;
    await kill(first);
    released.resolve(undefined);
    await holding;

    receiver.behave((_got, response) => void response.writeHead(200).end());
    await startProcess();
    await allDelivered();
    expect(receiver.got.map(({ headers }) => headers['trunkcall-event-id'])).toEqual([eventId, eventId]);
    expect(await harness.deliveries()).toMatchObject([{ tries: 2 }]);
  },
);

it('two processes share the work, and send nothing twice', { timeout: 90_000 }, async () => {
  const published = [];
  for (let count = 0; count < 200; count += 1) published.push(await harness.publish());
  await Promise.all([startProcess(), startProcess()]);
  await allDelivered();
  expect(receiver.got).toHaveLength(published.length);
  expect(new Set(receiver.got.map(({ headers }) => headers['trunkcall-event-id']))).toEqual(
    new Set(published.map(({ eventId }) => eventId)),
  );
});
