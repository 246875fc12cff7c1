import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { statement, type Database } from '../../../src/storage/database.ts';
import type { DeliveryRow } from '../../../src/storage/delivery-views.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { answers, hangs, startReceiver, type Receiver } from '../../kit/receiver.ts';
import { advance, createWebhookHarness, until, type WebhookHarness } from './harness.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

const inState = (state: DeliveryRow['state']) => (delivery: DeliveryRow) => delivery.state === state;

/** Many events at once, each with a delivery to the endpoint. */
const fill = statement<never>(
  'test_fill',
  `with numbers as (
     select 'evt_' || lpad(i::text, 26, '0') as event_id, 'dlv_' || lpad(i::text, 26, '0') as id
     from generate_series(1, $3::int) i
   ), events as (
     insert into webhook_events (id, account_id, type, body)
     select event_id, $1, 'call.completed', '{}' from numbers
   )
   insert into webhook_deliveries (id, event_id, endpoint_id, url, lane, due_at)
   select n.id, n.event_id, w.id, w.url, w.id, now() - interval '1 hour'
   from numbers n cross join webhook_endpoints w where w.id = $2`,
);
const countRows = statement<{ events: number; deliveries: number; tries: number; sending: number }>(
  'test_count',
  `select (select count(*)::int from webhook_events) as events,
          (select count(*)::int from webhook_deliveries) as deliveries,
          (select count(*)::int from webhook_tries) as tries,
          (select count(*)::int from webhook_deliveries where state = 'sending') as sending`,
);

describe.each(databases)('webhooks on %s', (kind) => {
  let test: TestDatabase;
  let db: Database;
  let receiver: Receiver;
  let other: Receiver;
  let harness: WebhookHarness;
  beforeEach(async () => {
    test = await freshDatabase(kind);
    db = test.db;
    [receiver, other] = [await startReceiver(), await startReceiver()];
    harness = await createWebhookHarness({ db, receivers: [receiver, other] });
  });
  afterEach(async () => {
    await harness.stop();
    await receiver.close();
    await other.close();
    await test.close();
  });

  const only = async (): Promise<DeliveryRow> => {
    const [delivery, second] = await harness.deliveries();
    if (delivery === undefined || second !== undefined) throw new Error('there is not exactly one delivery');
    return delivery;
  };
  /** The only delivery, once it is free and this holds. */
  const onceThat = (holds: (delivery: DeliveryRow) => boolean): Promise<DeliveryRow> =>
    until(async () => {
      const before = await only();
      const [counts] = await db.query(countRows);
      const delivery = await only();
      return before.tries === delivery.tries && counts?.sending === 0 && holds(delivery) && delivery;
    });

  it('arrive: the same bytes that were published, with their id in the header', async () => {
    await harness.endpoint(receiver);
    await harness.start();
    const published = await harness.publish({ url: `${other.origin}/own?token=t` });
    await until(async () => (await harness.deliveries()).every(inState('delivered')));
    for (const { got } of [receiver, other]) {
      expect(got).toHaveLength(1);
      expect(got[0]?.body).toBe(published.body);
      expect(got[0]?.headers).toMatchObject({
        'trunkcall-event-id': published.eventId,
        'content-type': 'application/json',
      });
      expect(got[0]?.headers['webhook-signature']).toBeUndefined();
    }
    expect(harness.logged()).not.toContain('token');
    expect(harness.logged()).not.toContain(receiver.origin);
  });

  it('are tried by the whole schedule of 28 hours, each time the same, and then have failed', async () => {
    receiver.behave(answers(500));
    await harness.endpoint(receiver);
    await harness.start();
    const { eventId, body } = await harness.publish();
    const waits = [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 10 * hour];
    let passed = 0;
    for (const [index, wait] of waits.entries()) {
      const delivery = await onceThat(({ tries }) => tries === index + 1);
      const [last] = await harness.tries(delivery.id);
      const sinceTry = (delivery.next_try_at?.getTime() ?? 0) - (last?.started_at.getTime() ?? 0);
      expect(sinceTry).toBeGreaterThanOrEqual(wait);
      expect(sinceTry).toBeLessThan(wait + 4 * second);
      await advance(db, wait);
      passed += wait;
    }
    const delivery = await onceThat(inState('failed'));
    expect(passed).toBe(27 * hour + 35 * minute + 5 * second);
    expect(delivery).toMatchObject({ tries: 8, last_status: 500, next_try_at: null });
    expect(await harness.tries(delivery.id)).toHaveLength(8);
    expect(receiver.got).toHaveLength(8);
    expect(
      receiver.got.every((got) => got.headers['trunkcall-event-id'] === eventId && got.body === body),
    ).toBe(true);
  });

  it('arrive once the receiver is well again', async () => {
    receiver.behave(answers(503, { 'retry-after': '3600' }));
    const id = await harness.endpoint(receiver);
    await harness.start();
    await harness.publish();
    const waiting = await onceThat(({ tries }) => tries === 1);
    const left = (waiting.next_try_at?.getTime() ?? 0) - Date.now();
    expect(left).toBeGreaterThan(hour - 10 * second);
    expect((await harness.endpoints.get(id)).failing_since).not.toBeNull();
    receiver.behave(answers(204));
    await advance(db, hour);
    expect(await onceThat(inState('delivered'))).toMatchObject({ tries: 2, last_status: 204 });
    expect((await harness.endpoints.get(id)).failing_since).toBeNull();
    const [last, first] = await harness.tries(waiting.id);
    expect(last).toMatchObject({ status: 204, error: null });
    expect(first).toMatchObject({ status: 503, error: null });
  });

  it('are signed by the secret, and for a day after a rotation by the one before as well', async () => {
    const { endpoint, secret } = await harness.endpoints.create({
      accountId: harness.accountId,
      url: receiver.origin,
      types: null,
      description: '',
      signed: true,
    });
    await harness.start();
    const verify = (by: string | null): unknown => {
      const got = receiver.got.at(-1);
      return new Webhook(by ?? '').verify(got?.body ?? '', got?.headers as Record<string, string>);
    };
    const deliver = async (): Promise<string> => {
      const before = receiver.got.length;
      const { eventId } = await harness.publish();
      await until(() => receiver.got.length > before);
      return eventId;
    };
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const eventId = await deliver();
    expect(verify(secret)).toMatchObject({ id: eventId });
    expect(receiver.got[0]?.headers['webhook-id']).toBe(eventId);

    const rotated = await harness.endpoints.rotateSecret(endpoint.id);
    await deliver();
    expect(verify(rotated.secret)).toBeDefined();
    expect(verify(secret)).toBeDefined();

    await advance(db, day);
    await deliver();
    expect(verify(rotated.secret)).toBeDefined();
    expect(() => verify(secret)).toThrow('No matching signature');
    expect(harness.logged()).not.toContain('whsec_');
  });

  it('that wait for an endpoint which is removed are abandoned, and nobody gets them', async () => {
    const id = await harness.endpoint(receiver, { signed: true });
    await harness.publish();
    await harness.endpoints.remove(id);
    await harness.start();
    expect(await onceThat(inState('abandoned'))).toMatchObject({ tries: 0, endpoint_id: id });
    expect(receiver.got).toEqual([]);
  });

  it('end with 410, which disables the endpoint', async () => {
    receiver.behave(answers(410));
    const id = await harness.endpoint(receiver);
    await harness.start();
    await harness.publish();
    expect(await onceThat(inState('failed'))).toMatchObject({ tries: 1, last_status: 410 });
    expect(await harness.endpoints.get(id)).toMatchObject({ disabled_reason: 'gone' });
    await until(() => harness.logged().includes('webhook endpoint disabled'));
    await harness.publish();
    expect(await harness.deliveries()).toHaveLength(1);
  });

  it('disable an endpoint that has failed for five days, but not one that succeeded in between', async () => {
    receiver.behave(answers(500));
    const [dead, alive] = [await harness.endpoint(receiver), await harness.endpoint(other)];
    await harness.start();
    other.behave(answers(500));
    const settled = (count: number) =>
      until(async () => {
        const deliveries = await harness.deliveries();
        const [counts] = await db.query(countRows);
        return (
          deliveries.length === count && counts?.sending === 0 && deliveries.every(({ tries }) => tries > 0)
        );
      });
    await harness.publish();
    await settled(2);
    await advance(db, 4 * day);
    other.behave(answers(200));
    await harness.publish();
    await settled(4);
    expect((await harness.endpoints.get(dead)).disabled_at).toBeNull();
    await advance(db, day + hour);
    other.behave(answers(500));
    await harness.publish();
    await until(async () => (await harness.endpoints.get(dead)).disabled_at !== null);
    expect(await harness.endpoints.get(dead)).toMatchObject({ disabled_reason: 'failing' });
    expect(await harness.endpoints.get(alive)).toMatchObject({ disabled_reason: null });
    const line = harness
      .logged()
      .split('\n')
      .find((text) => text.includes('webhook endpoint disabled'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ level: 'warn', endpoint_id: dead, reason: 'failing' });
    expect(await harness.endpoints.enable(dead)).toMatchObject({ disabled_at: null, failing_since: null });
  });

  it('that come due while their endpoint is disabled are abandoned, and can be replayed', async () => {
    const id = await harness.endpoint(receiver);
    const { body, eventId } = await harness.publish();
    await harness.endpoints.disable(id);
    await harness.start();
    const delivery = await onceThat(inState('abandoned'));
    expect(receiver.got).toEqual([]);
    await expect(harness.endpoints.replay(delivery.id)).rejects.toMatchObject({ code: 'webhook_conflict' });
    await expect(harness.endpoints.test(id)).rejects.toMatchObject({ code: 'webhook_conflict' });
    await harness.endpoints.enable(id);
    await harness.endpoints.replay(delivery.id);
    await onceThat(inState('delivered'));
    await harness.endpoints.replay(delivery.id);
    await until(async () => (await harness.tries(delivery.id)).length === 2);
    expect(receiver.got).toMatchObject([{ body }, { body, headers: { 'trunkcall-event-id': eventId } }]);
  });

  it('of a dead receiver with 10,000 pending slow nobody', { timeout: 120_000 }, async () => {
    receiver.behave(hangs);
    const dead = await harness.endpoint(receiver);
    await harness.endpoint(other, { path: '/healthy' });
    await db.query(fill, [harness.accountId, dead, 10_000]);
    await harness.start({ timeoutMs: 6_000 });
    await until(() => receiver.got.length >= 16);
    for (let count = 0; count < 20; count += 1) {
      const startedAt = performance.now();
      await harness.publish();
      await until(() => other.got.length > count);
      expect(performance.now() - startedAt).toBeLessThan(5_000);
    }
    // No more than it may take, and after its failures hardly anything.
    expect(receiver.got.length).toBeLessThanOrEqual(16 * 4);
  });

  it('go on in turns: one of each receiver before the second of any', async () => {
    const slow = await harness.endpoint(receiver);
    await db.query(fill, [harness.accountId, slow, 500]);
    await harness.publish({ url: `${other.origin}/` });
    let before = 0;
    other.behave((got, response, request) => {
      before = receiver.got.length;
      answers(200)(got, response, request);
    });
    await harness.start({ perReceiver: 64 });
    await until(() => other.got.length > 0);
    expect(before).toBeLessThan(130);
    await until(() => receiver.got.length === 501);
  });

  it('that are on their way at a stop are given time, cut off, and sent again without a loss of tries', async () => {
    await harness.endpoint(receiver);
    let response: { end(): void } | undefined;
    receiver.behave((_got, held) => (response = held));
    const first = await harness.start();
    await harness.publish();
    await until(() => response !== undefined);
    const stopped = first.stop();
    response?.end();
    await stopped;
    expect(await only()).toMatchObject({ state: 'delivered', tries: 1 });

    receiver.behave(hangs);
    const second = await harness.start();
    const { eventId } = await harness.publish();
    await until(() => receiver.got.length === 2);
    await second.stop();
    const [, cut] = await harness.deliveries();
    expect(cut).toMatchObject({ state: 'pending', tries: 0, last_error: 'interrupted' });
    receiver.behave(answers(200));
    await harness.start();
    await until(async () => (await harness.deliveries()).every(inState('delivered')));
    expect(receiver.got.slice(1).map(({ headers }) => headers['trunkcall-event-id'])).toEqual([
      eventId,
      eventId,
    ]);
  });

  it('of a worker that died are sent by another, and one that kills its workers ends', async () => {
    const killed = statement<never>(
      'test_killed',
      `update webhook_deliveries set state = 'sending', worker = 'wrk_dead', tries = $1,
                                     leased_until = now() - interval '1 second'`,
    );
    await harness.endpoint(receiver);
    await harness.publish();
    await db.query(killed, [3]);
    await harness.start();
    expect(await onceThat(inState('delivered'))).toMatchObject({ tries: 4 });
    await harness.publish();
    await until(async () => (await harness.deliveries()).every(inState('delivered')));
    const [delivery] = await harness.deliveries();
    await harness.stop();
    await harness.endpoints.replay(delivery?.id ?? '');
    await db.query(
      { ...killed, name: 'test_killed_last', text: `${killed.text} where ended_at is null` },
      [8],
    );
    await harness.start();
    await until(async () => (await harness.deliveries()).find(inState('failed')));
    expect(receiver.got).toHaveLength(2);
  });

  it('to an address that is not public are not sent, whatever was checked before', async () => {
    await harness.start();
    await harness.publish({ url: 'https://10.0.0.1/' });
    await harness.publish({ url: `https://127.0.0.1:${receiver.port + 1}/` });
    const refused = await until(async () => {
      const deliveries = await harness.deliveries();
      return deliveries.every(({ last_error }) => last_error !== null) && deliveries;
    });
    expect(refused.map(({ last_error, state }) => [last_error, state])).toEqual([
      ['destination_refused', 'pending'],
      ['destination_refused', 'pending'],
    ]);
  });

  it('are forgotten after their time, with all that belongs to them', async () => {
    await harness.endpoint(receiver);
    await harness.start();
    await harness.publish();
    await onceThat(inState('delivered'));
    await harness.stop();
    await advance(db, 31 * day);
    await harness.publish();
    await harness.start();
    await until(async () => (await db.query(countRows))[0]?.events === 1);
    await until(async () => (await db.query(countRows))[0]?.tries === 1);
    expect((await db.query(countRows))[0]).toMatchObject({ deliveries: 1 });
  });
});
