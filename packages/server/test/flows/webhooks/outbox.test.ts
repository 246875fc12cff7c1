import { isId } from '@trunkcall/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/platform/clock.ts';
import { createDestinations } from '../../../src/publication/destination.ts';
import { createEndpoints } from '../../../src/publication/endpoints.ts';
import { statement } from '../../../src/storage/database.ts';
import { enqueueWebhooks } from '../../../src/storage/webhooks.ts';
import { createAccount } from '../../kit/fixtures.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { createWebhookHarness, ids, type WebhookHarness } from './harness.ts';

const allDeliveries = statement<{ id: string; endpoint_id: string | null; lane: string; state: string }>(
  'test_all_deliveries',
  'select id, endpoint_id, lane, state from webhook_deliveries order by endpoint_id nulls last',
);

describe.each(databases)('the outbox on %s', (kind) => {
  let test: TestDatabase;
  let harness: WebhookHarness;
  beforeEach(async () => {
    test = await freshDatabase(kind);
    harness = await createWebhookHarness({ db: test.db, resolve: async () => ['8.8.8.8'] });
  });
  afterEach(() => test.close());

  const newEndpoint = (over: object = {}, accountId = harness.accountId) =>
    harness.endpoints.create({
      accountId,
      url: 'https://example.com/hook',
      types: null,
      description: '',
      signed: false,
      ...over,
    });

  it('holds one delivery per enabled endpoint that wants the type, and one for the URL of the call', async () => {
    const { endpoint: all } = await newEndpoint();
    const { endpoint: failures } = await newEndpoint({ types: ['call.failed'] });
    const { endpoint: off } = await newEndpoint();
    await harness.endpoints.disable(off.id);
    await newEndpoint({}, await createAccount(test.db, ids));

    await harness.publish({ url: 'https://Receiver.example:8443/a?b' });
    const rows = await test.db.query(allDeliveries);
    expect(rows).toMatchObject([
      { endpoint_id: all.id, lane: all.id, state: 'ready' },
      { endpoint_id: null, lane: `${harness.accountId} https://receiver.example:8443`, state: 'ready' },
    ]);
    expect(rows.every(({ id }) => isId('dlv', id))).toBe(true);

    await harness.publish({ type: 'call.failed' });
    const ofFailure = (await test.db.query(allDeliveries)).filter(
      ({ endpoint_id }) => endpoint_id === failures.id,
    );
    expect(ofFailure).toHaveLength(1);
  });

  it('takes an event once, however often and by however many it is published', async () => {
    await newEndpoint();
    const values = [
      ids.next('evt'),
      harness.accountId,
      ids.next('call'),
      'call.completed',
      '{}',
      'https://e.example/',
    ];
    await Promise.all(Array.from({ length: 8 }, () => test.db.query(enqueueWebhooks, values)));
    await test.db.query(enqueueWebhooks, values);
    expect(await test.db.query(allDeliveries)).toHaveLength(2);
  });

  it('holds nothing of a transaction that is rolled back', async () => {
    await newEndpoint();
    const failed = test.db.transaction(async (tx) => {
      await tx.query(enqueueWebhooks, [
        ids.next('evt'),
        harness.accountId,
        'call_1',
        'call.failed',
        '{}',
        null,
      ]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    expect(await test.db.query(allDeliveries)).toEqual([]);
  });

  it('is not reached by an account with too many endpoints, or with one that is not public', async () => {
    for (let count = 0; count < 100; count += 1) await newEndpoint();
    await expect(newEndpoint()).rejects.toMatchObject({ code: 'invalid_request' });
    const destinations = createDestinations({
      allow: new Set(),
      clock: systemClock,
      resolve: async () => ['10.1.1.1'],
    });
    const endpoints = createEndpoints({
      db: test.db,
      clock: systemClock,
      ids,
      destinations,
      onDue: () => undefined,
    });
    const refused = endpoints.create({
      accountId: await createAccount(test.db, ids),
      url: 'https://token-in-name.example/',
      types: null,
      description: '',
      signed: false,
    });
    await expect(refused).rejects.toMatchObject({
      code: 'invalid_webhook_url',
      message: expect.not.stringContaining('token'),
    });
  });
});
