import { webhookTypes } from '@trunkcall/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { enqueueWebhooks } from '../../../src/storage/webhooks.ts';
import { databases } from '../../kit/database.ts';
import { ids, startOperatorService, type OperatorService } from './service.ts';

const url = 'https://receiver.example/hook';

describe.each(databases)('webhooks in the operator API on %s', (kind) => {
  let service: OperatorService;
  beforeAll(async () => {
    service = await startOperatorService(kind);
  });
  afterAll(() => service.close());

  async function publish(accountId: string, over: { url?: string } = {}): Promise<string> {
    const callId = ids.next('call');
    const body = '{"text":"Grüße"}';
    const values = [ids.next('evt'), accountId, callId, 'call.completed', body, over.url ?? null];
    await service.database.db.query(enqueueWebhooks, values);
    return callId;
  }

  test('an endpoint is added, listed, disabled and enabled', async () => {
    const { operator } = service;
    const { id: account_id } = await operator.createAccount('owner');
    const added = await operator.createWebhook({
      account: 'owner',
      url,
      types: ['call.failed'],
      description: 'Ops',
    });
    expect(added).toMatchObject({
      account_id,
      url,
      types: ['call.failed'],
      description: 'Ops',
      signed: false,
      enabled: true,
      secret: null,
    });
    const hidden = operator.createWebhook({ account: 'owner', url, description: 'Op\u009fs' });
    await expect(hidden).rejects.toMatchObject({
      message: expect.stringMatching(/^description .* U\+009F$/),
    });
    const { secret: _, ...shown } = added;
    expect(await operator.getWebhook(added.id)).toEqual(shown);
    expect((await operator.listWebhooks({ account: 'owner' })).data).toEqual([shown]);
    expect(await operator.switchWebhook(added.id, 'disable')).toMatchObject({
      enabled: false,
      disabled_reason: 'operator',
      disabled_at: expect.any(String),
    });
    expect(await operator.switchWebhook(added.id, 'enable')).toEqual(shown);
  });

  test('an endpoint is removed, and nothing goes to it any more', async () => {
    const { operator } = service;
    await operator.createAccount('leaver');
    const { secret: _, ...added } = await operator.createWebhook({ account: 'leaver', url });
    const tested = await operator.testWebhook(added.id);
    expect(await operator.removeWebhook(added.id)).toEqual(added);
    expect((await operator.listWebhooks({ account: 'leaver' })).data).toEqual([]);
    await expect(operator.removeWebhook(added.id)).rejects.toMatchObject({ status: 404 });
    await expect(operator.replayDelivery(tested.id)).rejects.toMatchObject({ status: 409 });
    expect(await operator.getDelivery(tested.id)).toMatchObject({ webhook_id: added.id, state: 'pending' });
  });

  test('a list goes on behind its cursor', async () => {
    const { operator } = service;
    await operator.createAccount('many');
    const added: string[] = [];
    for (let count = 0; count < 5; count += 1)
      added.push((await operator.createWebhook({ account: 'many', url })).id);
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof operator.listWebhooks>> = await operator.listWebhooks({
        account: 'many',
        limit: 2,
        ...(after !== null && { after }),
      });
      seen.push(...page.data.map(({ id }) => id));
      after = page.next_cursor;
    } while (after !== null);
    expect(seen).toEqual(added);
    expect((await operator.listWebhooks()).data.length).toBeGreaterThanOrEqual(5);
  });

  test('a secret is shown when it is made, and never again', async () => {
    const { operator } = service;
    await operator.createAccount('signer');
    const { id, secret, types } = await operator.createWebhook({ account: 'signer', url, signed: true });
    expect(secret).toMatch(/^whsec_/);
    expect(types).toEqual(webhookTypes);
    const rotated = await operator.rotateWebhookSecret(id);
    expect(rotated.secret).toMatch(/^whsec_/);
    expect(rotated.secret).not.toBe(secret);
    const day = Date.parse(rotated.previous_secret_until ?? '') - Date.now();
    expect(day).toBeGreaterThan(86_000_000);
    expect(JSON.stringify([await operator.getWebhook(id), await operator.listWebhooks()])).not.toContain(
      'whsec_',
    );
    expect(service.logged()).not.toContain('whsec_');

    const unsigned = await operator.createWebhook({ account: 'signer', url });
    expect(await operator.rotateWebhookSecret(unsigned.id)).toMatchObject({
      signed: true,
      previous_secret_until: null,
    });
  });

  test('deliveries are listed newest first by endpoint, call and state, and shown with what is sent', async () => {
    const { operator } = service;
    const { id: accountId } = await operator.createAccount('delivered');
    const { id } = await operator.createWebhook({ account: 'delivered', url });
    const calls = [await publish(accountId), await publish(accountId, { url: 'https://own.example/' })];
    const tested = await operator.testWebhook(id);
    expect(tested).toMatchObject({
      type: 'webhook.test',
      webhook_id: id,
      call_id: null,
      state: 'pending',
      tries: 0,
    });

    const ofEndpoint = await operator.listDeliveries({ webhook: id });
    expect(ofEndpoint.data.map(({ call_id }) => call_id)).toEqual([null, calls[1], calls[0]]);
    const first = await operator.listDeliveries({ webhook: id, limit: 2 });
    expect(first.next_cursor).not.toBeNull();
    const rest = await operator.listDeliveries({ webhook: id, limit: 2, after: first.next_cursor ?? '' });
    expect([...first.data, ...rest.data]).toEqual(ofEndpoint.data);

    const ofCall = await operator.listDeliveries({ call: calls[1] ?? '' });
    expect(new Set(ofCall.data.map((delivery) => delivery.url))).toEqual(
      new Set([url, 'https://own.example/']),
    );
    expect((await operator.listDeliveries({ webhook: id, state: 'delivered' })).data).toEqual([]);
    expect((await operator.listDeliveries({ webhook: id, state: 'pending' })).data).toHaveLength(3);
    expect((await operator.listDeliveries()).data.length).toBeGreaterThanOrEqual(4);

    const [delivery] = ofCall.data;
    expect(await operator.getDelivery(delivery?.id ?? '')).toEqual({
      ...delivery,
      body: '{"text":"Grüße"}',
      try_log: [],
    });
    expect(await operator.replayDelivery(tested.id)).toMatchObject({ id: tested.id, state: 'pending' });
    await operator.switchWebhook(id, 'disable');
    await expect(operator.replayDelivery(tested.id)).rejects.toMatchObject({
      status: 409,
      code: 'webhook_conflict',
    });
    await expect(operator.testWebhook(id)).rejects.toMatchObject({ status: 409, code: 'webhook_conflict' });
  });

  test.each([
    [{ account: 'nobody', url }, 404],
    [{ account: 'owner' }, 400],
    [{ account: 'owner', url, types: ['call.started'] }, 400],
    [{ account: 'owner', url, types: [] }, 400],
    [{ account: 'owner', url, description: 'x'.repeat(201) }, 400],
    [{ account: 'owner', url, description: 'a\u0000b' }, 400],
    [{ account: 'owner', url, colour: 'red' }, 400],
    [{ account: 'owner', url: 'http://receiver.example/' }, 422],
    [{ account: 'owner', url: 'https://127.0.0.1/' }, 422],
  ])('an endpoint that is asked for as %j is refused with %i', async (body, status) => {
    const response = await fetch(`${service.origin}/operator/v1/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } });
  });

  test.each([
    ['GET', '/webhooks/whe_1', 404],
    ['GET', '/webhooks/%00', 404],
    ['POST', '/webhooks/whe_00000000000000000000000000/disable', 404],
    ['POST', '/webhooks/whe_00000000000000000000000000/rotate_secret', 404],
    ['POST', '/webhooks/whe_00000000000000000000000000/test', 404],
    ['POST', '/webhooks/whe_00000000000000000000000000/explode', 404],
    ['GET', '/webhook_deliveries/dlv_00000000000000000000000000', 404],
    ['POST', '/webhook_deliveries/dlv_00000000000000000000000000/replay', 404],
    ['GET', '/webhook_deliveries?state=sending', 400],
    ['GET', '/webhook_deliveries?webhook=call_1', 400],
    ['GET', '/webhook_deliveries?call=call_1', 400],
    ['GET', '/webhook_deliveries?after=whe_00000000000000000000000000', 400],
    [
      'GET',
      '/webhook_deliveries?webhook=whe_00000000000000000000000000&call=call_00000000000000000000000000',
      400,
    ],
  ])('%s %s is answered with %i', async (method, path, status) => {
    const response = await fetch(`${service.origin}/operator/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${service.token}` },
    });
    expect(response.status).toBe(status);
  });
});
