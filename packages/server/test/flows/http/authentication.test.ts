import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { scopes, type Scope } from '@trunkcall/contract';
import { createKeyring } from '../../../src/authoring/keys.ts';
import type { Database, SqlValue, Statement } from '../../../src/storage/database.ts';
import { databases } from '../../kit/database.ts';
import { refusal } from './envelope.ts';
import { exchangeRaw, ids, startService, type Service } from './service.ts';

const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });

const idOf = (key: string) => `key_${key.slice(8, 34)}`;
const wait = (response: Response) => Number(response.headers.get('retry-after'));

/** A key of the right form that nobody has. */
const inventedKey = () => `tc_test_${ids.next('key').slice(4)}${'A'.repeat(43)}`;

describe.each(databases)('API keys on %s', (kind) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ kind });
  });
  afterAll(() => service.close());

  const listWith = (key: string) => service.fetch('/v1/goals', bearer(key));

  it('have the form that is promised, and are stored as a hash alone', async () => {
    const { db } = service.database;
    const { key, id } = await service.keys.create({
      accountId: service.accountId,
      scopes,
      regions: ['US'],
      expiresAt: null,
    });
    expect(key).toMatch(/^tc_test_[0-9a-z]{26}[\w-]{43}$/);
    expect(key.slice(8, 34)).toBe(id.slice(4));
    const listed = await service.keys.list(service.accountId);
    expect(listed.find((view) => view.id === id)).toMatchObject({
      scopes,
      regions: ['US'],
      expiresAt: null,
      revokedAt: null,
    });
    const everything = await db.query(
      { name: 'test_key_row', text: 'select k::text as row from api_keys k where id = $1' },
      [id],
    );
    expect(JSON.stringify([everything, listed])).not.toContain(key.slice(34));
  });

  it('refuses to make a key without scopes, with unknown ones, in the past, or for nobody', async () => {
    const wanted = { accountId: service.accountId, scopes, regions: null, expiresAt: null };
    const past = new Date(service.clock.now() - 1);
    const bad = [
      { ...wanted, scopes: [] },
      { ...wanted, scopes: ['everything' as Scope] },
      { ...wanted, regions: [] },
      { ...wanted, regions: ['usa'] },
      { ...wanted, expiresAt: past },
      { ...wanted, expiresAt: new Date(Number.NaN) },
    ];
    for (const key of bad)
      await expect(service.keys.create(key)).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(service.keys.create({ ...wanted, accountId: ids.next('acct') })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('401: a key that is missing, malformed, unknown, of another environment, or has one letter wrong', async () => {
    const live = createKeyring({
      db: service.database.db,
      clock: service.clock,
      ids,
      environment: 'production',
    });
    const { key: liveKey } = await live.create({
      accountId: service.accountId,
      scopes,
      regions: null,
      expiresAt: null,
    });
    expect(liveKey).toMatch(/^tc_live_/);
    const wrongLetter = `${service.key.slice(0, -1)}${service.key.endsWith('A') ? 'B' : 'A'}`;
    const wrong = [
      '',
      'x',
      inventedKey(),
      liveKey,
      liveKey.replace('tc_live_', 'tc_test_'),
      wrongLetter,
      `${service.key}A`,
      service.key.slice(0, -1),
      service.key.toUpperCase(),
    ];
    for (const key of wrong) expect(await refusal(await listWith(key))).toBe('401 unauthorized');
    const missing = await fetch(`${service.origin}/v1/goals`);
    expect(missing.headers.get('www-authenticate')).toContain('Bearer');
    expect(await refusal(missing)).toBe('401 unauthorized');
    for (const authorization of [
      `Basic ${service.key}`,
      service.key,
      `Bearer${service.key}`,
      `Bearer ${service.key} x`,
      `Bearer ${service.key}, Bearer x`,
    ]) {
      expect(await refusal(await service.fetch('/v1/goals', { headers: { authorization } }))).toBe(
        '401 unauthorized',
      );
    }
    expect(
      (await service.fetch('/v1/goals', { headers: { authorization: `bearer  ${service.key}` } })).status,
    ).toBe(200);
  });

  it('401: two Authorization headers, even when both are right', async () => {
    const line = `Authorization: Bearer ${service.key}\r\n`;
    const bytes = `GET /v1/goals HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${line}${line}\r\n`;
    expect((await exchangeRaw(service.port, bytes))[0]?.status).toBe(401);
  });

  it('401 from the moment of expiry on', async () => {
    const key = await service.newKey({ expiresAt: new Date(service.clock.now() + 60_000) });
    expect((await listWith(key)).status).toBe(200);
    service.clock.advance(60_000);
    expect(await refusal(await listWith(key))).toBe('401 unauthorized');
  });

  it('401 at once after a revocation here, and within 5 s in every other process', async () => {
    const elsewhere = createKeyring({
      db: service.database.db,
      clock: service.clock,
      ids,
      environment: 'test',
    });
    const [here, there] = await Promise.all([service.newKey(), service.newKey()]);
    expect((await listWith(here)).status).toBe(200);
    expect((await listWith(there)).status).toBe(200);
    await service.keys.revoke(idOf(here));
    await elsewhere.revoke(idOf(there));
    expect(await refusal(await listWith(here))).toBe('401 unauthorized');
    service.clock.advance(5_000);
    expect(await refusal(await listWith(there))).toBe('401 unauthorized');
    expect((await elsewhere.revoke(idOf(there))).revokedAt).toBeInstanceOf(Date);
    await expect(elsewhere.revoke('key_none')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('403: a key that lacks the scope, before anything of the request is looked at', async () => {
    const withOnly = async (...allowed: Scope[]) => ({
      authorization: `Bearer ${await service.newKey({ scopes: allowed })}`,
    });
    const runsOnly = await withOnly('runs:read');
    expect(await refusal(await service.fetch('/v1/goals?limit=nonsense', { headers: runsOnly }))).toBe(
      '403 forbidden',
    );
    expect(await refusal(await service.fetch('/v1/goals/none', { headers: runsOnly }))).toBe('403 forbidden');
    expect(await refusal(await service.post('{', { ...runsOnly, 'idempotency-key': '' }))).toBe(
      '403 forbidden',
    );
    const goalsOnly = await withOnly('goals:read', 'runs:write', 'calls:read', 'calls:write');
    const run = `/v1/goals/${service.goalId}/runs/none`;
    expect(await refusal(await service.fetch(run, { headers: goalsOnly }))).toBe('403 forbidden');
    expect(await refusal(await service.fetch(run, { headers: runsOnly }))).toBe('404 not_found');
  });

  it('403: a key that may not run Goals of this region', async () => {
    const authorization = `Bearer ${await service.newKey({ regions: ['CA'] })}`;
    const body = { phone: '+12025550100', variables: { name: 'Ada' } };
    expect(await refusal(await service.post(body, { authorization }))).toBe('403 forbidden');
    const allowed = `Bearer ${await service.newKey({ regions: ['CA', 'US'] })}`;
    expect((await service.post(body, { authorization: allowed })).status).toBe(201);
  });
});

describe('rates', () => {
  let service: Service;
  let questions: number;

  /** The database, counting what it is asked. */
  const counted = (db: Database): Database => ({
    ...db,
    query: <Row>(statement: Statement<Row>, values?: readonly SqlValue[]) => {
      questions += 1;
      return db.query(statement, values);
    },
  });

  beforeEach(async () => {
    questions = 0;
    service = await startService({
      settings: {
        keyRate: { perSecond: 2, burst: 5 },
        wrongKeyRate: { perSecond: 0.5, burst: 3 },
        trustedProxies: ['127.0.0.1'],
      },
      wrapForKeys: counted,
    });
  });
  afterEach(() => service.close());

  it('429 after a burst, per key, and not before Retry-After is over', async () => {
    const statuses = [];
    for (let count = 0; count < 5; count += 1) statuses.push((await service.fetch('/v1/goals')).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
    const limited = await service.fetch('/v1/goals');
    expect(wait(limited)).toBe(1);
    expect(await refusal(limited)).toBe('429 rate_limit_exceeded');
    expect((await service.fetch('/v1/goals', bearer(await service.newKey()))).status).toBe(200);
    service.clock.advance(1_000);
    expect((await service.fetch('/v1/goals')).status).toBe(200);
    expect((await service.fetch('/v1/goals')).status).toBe(200);
  });

  it('429 for an address that tries wrong keys, before the database is asked', async () => {
    for (let count = 0; count < 3; count += 1) {
      expect(await refusal(await service.fetch('/v1/goals', bearer(inventedKey())))).toBe('401 unauthorized');
    }
    questions = 0;
    const limited = await service.fetch('/v1/goals', bearer(inventedKey()));
    expect(wait(limited)).toBe(2);
    expect(await refusal(limited)).toBe('429 rate_limit_exceeded');
    expect(questions).toBe(0);
    service.clock.advance(2_000);
    expect(await refusal(await service.fetch('/v1/goals', bearer(inventedKey())))).toBe('401 unauthorized');
  });

  it('lets a key that has been right through from an address that others misuse', async () => {
    expect((await service.fetch('/v1/goals')).status).toBe(200);
    // Long enough ago that the key has to be read again.
    service.clock.advance(5_000);
    for (let count = 0; count < 5; count += 1) await service.fetch('/v1/goals', bearer(inventedKey()));
    expect((await service.fetch('/v1/goals', bearer(inventedKey()))).status).toBe(429);
    expect((await service.fetch('/v1/goals')).status).toBe(200);
  });

  /** Tries a wrong key from each address in turn; ends with the statuses. */
  async function statuses(...addresses: string[]): Promise<number[]> {
    const seen = [];
    for (const address of addresses) {
      const headers = { ...bearer(inventedKey()).headers, 'x-forwarded-for': address };
      seen.push((await service.fetch('/v1/goals', { headers })).status);
    }
    return seen;
  }

  it('counts by the address that a trusted proxy names, IPv6 by its /64', async () => {
    expect(await statuses('203.0.113.1', '203.0.113.1', '203.0.113.1', '203.0.113.1')).toEqual([
      401, 401, 401, 429,
    ]);
    expect(await statuses('203.0.113.2')).toEqual([401]);
    expect(await statuses('2001:db8::1', '2001:db8:0:0:1::', '2001:db8::ffff', '2001:db8::2')).toEqual([
      401, 401, 401, 429,
    ]);
    expect(await statuses('2001:db8:0:1::1')).toEqual([401]);
  });

  it('takes many requests with a new key at the same time for one guess, and asks once', async () => {
    const key = await service.newKey();
    questions = 0;
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => service.fetch('/v1/goals', bearer(key))),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(questions).toBe(1);
  });
});
