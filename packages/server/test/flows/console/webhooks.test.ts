import type {
  ConsoleAuditEntry,
  ConsoleDeliveryDetail,
  OperatorDelivery,
  OperatorList,
  OperatorWebhook,
  WebhookWithSecret,
} from '@trunkcall/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordTries } from '../../../src/storage/deliveries.ts';
import { statement } from '../../../src/storage/database.ts';
import { enqueueWebhooks } from '../../../src/storage/webhooks.ts';
import { databases } from '../../kit/database.ts';
import { ids, startConsole, type ConsoleService, type Visitor } from './service.ts';

const url = 'https://receiver.example/hook';
const body = '{"text":"Grüße","phone":"+12025550142"}';
const claim = statement<never>(
  'test_claim_delivery',
  `update webhook_deliveries set state = 'sending', worker = 'w', leased_until = now(), fence = 1, tries = 1
   where id = $1`,
);

describe.each(databases)('webhooks in the console on %s', (kind) => {
  let service: ConsoleService;
  let owner: Visitor;
  let viewer: Visitor;
  beforeAll(async () => {
    service = await startConsole(kind);
    owner = await service.person('owner');
    viewer = await service.person('viewer');
  });
  afterAll(() => service.close());

  const of = (path: string) => `/accounts/${service.accountId}${path}`;

  async function add(who: Visitor, body: object = {}): Promise<WebhookWithSecret> {
    const response = await who.send('POST', of('/webhooks'), { url, ...body });
    expect(response.status).toBe(201);
    return (await response.json()) as WebhookWithSecret;
  }

  /** Publishes an event; ends with its call. */
  async function publish(accountId: string, own: string | null = null): Promise<string> {
    const call = ids.next('call');
    const values = [ids.next('evt'), accountId, call, 'call.completed', body, own];
    await service.database.db.query(enqueueWebhooks, values);
    return call;
  }

  const deliveries = async (filter = '') =>
    (await viewer.get<OperatorList<OperatorDelivery>>(of(`/webhook_deliveries?${filter}`))).data;

  test('an endpoint is added, shown, disabled with its reason, enabled and removed', async () => {
    const { secret, ...added } = await add(owner, { types: ['call.failed'], description: 'Ops' });
    expect(secret).toBeNull();
    expect(added).toMatchObject({ url, types: ['call.failed'], description: 'Ops', enabled: true });
    const listed = await owner.get<OperatorList<OperatorWebhook>>(of('/webhooks'));
    expect(listed.data).toEqual([added]);
    // Its path can be a secret, and is for those who manage it.
    const seen = await viewer.get<OperatorList<OperatorWebhook>>(of('/webhooks'));
    expect(seen.data).toEqual([{ ...added, url: 'https://receiver.example/…' }]);
    const disabled = await owner.send('POST', `/webhooks/${added.id}/disable`);
    expect(await disabled.json()).toMatchObject({ enabled: false, disabled_reason: 'operator' });
    expect((await owner.send('POST', `/webhooks/${added.id}/test`)).status).toBe(409);
    expect(await (await owner.send('POST', `/webhooks/${added.id}/enable`)).json()).toEqual(added);
    expect(await (await owner.send('POST', `/webhooks/${added.id}/remove`)).json()).toEqual(added);
    expect((await viewer.get<OperatorList<OperatorWebhook>>(of('/webhooks'))).data).toEqual([]);
    expect((await owner.send('POST', `/webhooks/${added.id}/enable`)).status).toBe(404);
  });

  test('a secret is shown when it is made, and never again', async () => {
    const { id, secret } = await add(owner, { signed: true });
    expect(secret).toMatch(/^whsec_/);
    const rotated = await owner.send('POST', `/webhooks/${id}/rotate_secret`);
    const second = (await rotated.json()) as WebhookWithSecret;
    expect(second.secret).toMatch(/^whsec_/);
    expect(second.secret).not.toBe(secret);
    expect(Date.parse(second.previous_secret_until ?? '') - Date.now()).toBeGreaterThan(86_000_000);
    expect(await (await viewer.send('GET', of('/webhooks'))).text()).not.toContain('whsec_');
    expect(service.logged()).not.toContain('whsec_');
    await owner.send('POST', `/webhooks/${id}/remove`);
  });

  test('deliveries are found by endpoint, call and state, newest first, page by page', async () => {
    const { id } = await add(owner);
    const first = await publish(service.accountId);
    const second = await publish(service.accountId, 'https://own.example/');
    await publish(service.otherAccountId, 'https://rival.example/');
    const all = await deliveries();
    expect(all).toHaveLength(3);
    expect(new Set(all.slice(0, 2).map(({ call_id }) => call_id))).toEqual(new Set([second]));
    expect(all[2]?.call_id).toBe(first);
    expect((await deliveries(`webhook=${id}`)).map(({ call_id }) => call_id)).toEqual([second, first]);
    expect(await deliveries(`call=${first}`).catch(() => 'unknown call')).toBe('unknown call');
    expect(await deliveries('state=delivered')).toEqual([]);
    const paged: OperatorDelivery[] = [];
    for (let after = ''; paged.length < 3; after = `&after=${paged.at(-1)?.id}`)
      paged.push(...(await deliveries(`limit=1${after}`)));
    expect(paged).toEqual(all);
    expect(await deliveries(`after=${paged.at(-1)?.id}`)).toEqual([]);
    await owner.send('POST', `/webhooks/${id}/remove`);
  });

  test('a delivery shows what is sent, byte for byte to owners, without numbers to others, and each try with the beginning of its answer', async () => {
    const { db } = service.database;
    const call = await publish(service.accountId, 'https://own.example/');
    const delivery = (await deliveries()).find(({ call_id }) => call_id === call);
    const id = delivery?.id ?? '';
    await db.query(claim, [id]);
    const detail = await viewer.get<ConsoleDeliveryDetail>(`/webhook_deliveries/${id}`);
    expect(detail).toMatchObject({ masked: true, body: `{"text":"Grüße","phone":"+•••••••••42"}` });
    const answer = '<script>alert(1)</script>';
    const tried = [[id], [1], ['failed'], [0], [true], [500], [120], [500], [null], [answer]];
    await db.query(recordTries, [...tried, 1_000]);
    expect(await owner.get<ConsoleDeliveryDetail>(`/webhook_deliveries/${id}`)).toMatchObject({
      state: 'failed',
      masked: false,
      body,
      try_log: [{ duration_ms: 120, status: 500, error: null, response: answer }],
    });
    const replayed = await owner.send('POST', `/webhook_deliveries/${id}/replay`);
    expect(replayed.status).toBe(202);
    expect(await replayed.json()).toMatchObject({ id, event_id: delivery?.event_id, state: 'pending' });
  });

  test('what was delivered to an endpoint that is gone is not sent again', async () => {
    const { id } = await add(owner);
    const tested = await owner.send('POST', `/webhooks/${id}/test`);
    const delivery = (await tested.json()) as OperatorDelivery;
    expect(delivery).toMatchObject({ type: 'webhook.test', state: 'pending' });
    await owner.send('POST', `/webhooks/${id}/remove`);
    expect((await owner.send('POST', `/webhook_deliveries/${delivery.id}/replay`)).status).toBe(409);
  });

  test('who changed what stands in the audit log, without URLs and secrets', async () => {
    const path = `/audit?account=${service.accountId}&limit=100`;
    const { data } = await owner.get<OperatorList<ConsoleAuditEntry>>(path);
    const actions = new Set(data.map(({ action }) => action));
    for (const action of ['created', 'disabled', 'enabled', 'removed', 'secret_rotated', 'tested'])
      expect(actions).toContain(`webhook.${action}`);
    expect(actions).toContain('delivery.replayed');
    expect(JSON.stringify(data)).not.toMatch(/whsec_|receiver\.example/);
  });

  test('a change that is refused leaves no note', async () => {
    const count = async () => {
      const path = `/audit?account=${service.accountId}&limit=100`;
      const { data } = await owner.get<OperatorList<ConsoleAuditEntry>>(path);
      return data.filter(({ action }) => action.startsWith('webhook.')).length;
    };
    const before = await count();
    const refused = [
      [{ url: 'http://receiver.example/' }, 422],
      [{ url: 'https://127.0.0.1/' }, 422],
      [{ url, types: [] }, 400],
      [{ url, account: service.accountId }, 400],
      [{ url, colour: 'red' }, 400],
    ] as const;
    for (const [body, status] of refused)
      expect([body, (await owner.send('POST', of('/webhooks'), body)).status]).toEqual([body, status]);
    expect(await count()).toBe(before);
  });

  test.each(['state=sending', 'webhook=x', 'call=x', 'after=x', 'colour=red', 'limit=101'])(
    'a list of deliveries with %s is refused',
    async (filter) => {
      const { status } = await viewer.send('GET', of(`/webhook_deliveries?${filter}`));
      expect([400, 404]).toContain(status);
    },
  );

  test('to a stranger the endpoints and deliveries of an account look as if they were not there', async () => {
    const operator = await service.operator();
    const made = await operator.send('POST', `/accounts/${service.otherAccountId}/webhooks`, { url });
    const { id } = (await made.json()) as WebhookWithSecret;
    const tested = await operator.send('POST', `/webhooks/${id}/test`);
    const { id: delivery } = (await tested.json()) as OperatorDelivery;
    const asked = [
      ['GET', `/accounts/${service.otherAccountId}/webhooks`],
      ['GET', `/accounts/${service.otherAccountId}/webhook_deliveries`],
      ['GET', of(`/webhook_deliveries?webhook=${id}`)],
      ['GET', `/webhook_deliveries/${delivery}`],
      ['POST', `/webhook_deliveries/${delivery}/replay`],
      ...['disable', 'enable', 'remove', 'rotate_secret', 'test'].map((name) => [
        'POST',
        `/webhooks/${id}/${name}`,
      ]),
    ];
    for (const [method = '', path = ''] of asked)
      expect([path, (await owner.send(method, path)).status]).toEqual([path, 404]);
  });
});
