import { afterEach, describe, expect, it } from 'vitest';
import { Refusal } from '../../../src/platform/refusal.ts';
import { DatabaseUnavailable } from '../../../src/storage/database.ts';
import { expectWellFormed, refusal, refusalOf } from './envelope.ts';
import { ids, startService, type Service, type ServiceOptions } from './service.ts';

const phone = '+12025550143';
const valid = { phone, variables: { name: 'Ada Lovelace' } };

let service: Service;
const start = async (over: ServiceOptions['over']) => {
  service = await startService(over === undefined ? {} : { over });
};
afterEach(() => service.close());

const failing = (error: unknown): ServiceOptions['over'] => ({
  acceptance: {
    async accept() {
      throw error;
    },
  },
});

describe('failures behind the API', () => {
  it('503 provider_unavailable with Retry-After when the database can not be asked', async () => {
    await start(failing(new DatabaseUnavailable('connection refused by 10.0.0.5')));
    const response = await service.post(valid);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(await refusalOf(response)).toEqual({
      status: 503,
      code: 'provider_unavailable',
      message: expect.not.stringContaining('10.0.0.5'),
    });
    expect(service.logged()).toContain('connection refused by 10.0.0.5');
  });

  it('503 for every endpoint when the database is gone', async () => {
    await start(undefined);
    const authorization = `Bearer ${await service.newKey()}`;
    await service.database.db.close();
    for (const path of [
      '/v1/goals',
      `/v1/goals/${ids.next('goal')}`,
      `/v1/goals/${ids.next('goal')}/runs/${ids.next('grun')}`,
    ]) {
      expect(await refusal(await service.fetch(path, { headers: { authorization } }))).toBe(
        '503 provider_unavailable',
      );
    }
    expect(await refusal(await service.post(valid, { authorization }))).toBe('503 provider_unavailable');
  });

  it('500 internal_error for our own mistake: the client learns nothing, the log has the cause', async () => {
    await start(failing(new TypeError('cannot read properties of the secret plan')));
    const response = await service.post(valid);
    const requestId = response.headers.get('request-id');
    expect(await refusalOf(response)).toEqual({
      status: 500,
      code: 'internal_error',
      message: expect.not.stringContaining('secret plan'),
    });
    const line = JSON.parse(service.logged().trim().split('\n').at(-1) ?? '');
    expect(line).toMatchObject({
      level: 'error',
      request_id: requestId,
      status: 500,
      code: 'internal_error',
    });
    expect(line.err.message).toContain('secret plan');
  });

  it('500 also when something that is no error is thrown', async () => {
    await start(failing(undefined));
    expect(await refusal(await service.post(valid))).toBe('500 internal_error');
    await service.close();
    await start(failing('a string'));
    expect(await refusal(await service.post(valid))).toBe('500 internal_error');
  });

  it('passes on the status, headers and details of a refusal', async () => {
    await start(
      failing(
        new Refusal('provider_unavailable', 'no', {
          status: 502,
          details: { hint: 1 },
          headers: { 'retry-after': '7' },
        }),
      ),
    );
    const response = await service.post(valid);
    expect(response.status).toBe(502);
    expect(response.headers.get('retry-after')).toBe('7');
    expect(await response.json()).toEqual({
      error: { code: 'provider_unavailable', message: 'no', details: { hint: 1 } },
    });
  });

  it('503 from /readyz with the reasons, also when the check fails or hangs', async () => {
    await start({ ready: async () => ['the database does not answer'] });
    const response = await service.fetch('/readyz');
    expect(await response.clone().json()).toHaveProperty('error.details', {
      reasons: ['the database does not answer'],
    });
    expect(await refusal(response)).toBe('503 provider_unavailable');
    expect((await service.fetch('/livez')).status).toBe(200);
    await service.close();
    await start({ ready: () => Promise.reject(new Error('broken')) });
    expect(await refusal(await service.fetch('/readyz'))).toBe('503 provider_unavailable');
    await service.close();
    await start({ ready: () => new Promise(() => undefined) });
    expect(await refusal(await service.fetch('/readyz'))).toBe('503 provider_unavailable');
  });
});

describe('the log', () => {
  it('has one line for each request, with what an operator needs', async () => {
    await start(undefined);
    const response = await service.post(valid);
    await response.text();
    await (await service.fetch('/nowhere?phone=1')).text();
    await (await service.fetch('/v1/goals/%')).text();
    const lines = service
      .logged()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatchObject({
      level: 'info',
      msg: 'request',
      request_id: response.headers.get('request-id'),
      method: 'POST',
      route: '/v1/goals/:goalId/runs',
      status: 201,
      code: null,
      key_id: expect.stringMatching(/^key_/),
      account_id: service.accountId,
      duration_ms: expect.any(Number),
      bytes: expect.any(Number),
    });
    expect(lines[1]).toMatchObject({ route: null, status: 404, code: 'not_found', key_id: null });
    expect(lines[2]).toMatchObject({ route: null, status: 400, code: 'invalid_request', key_id: null });
  });

  it('never has a phone number, a variable, a key, a path or a query (I10)', async () => {
    await start(undefined);
    const secretKey = 'tc_test_wrongwrongwrong';
    await service.post(valid);
    await service.post({ phone: `${phone}x`, variables: valid.variables });
    await service.post({ phone, variables: { name: 1, 'Ada Lovelace': 2 } });
    await service.post(`{"phone":"${phone}" Ada Lovelace`);
    await service.fetch(`/v1/goals?after=${encodeURIComponent(phone)}`);
    await service.fetch(`/v1/${encodeURIComponent(phone)}`);
    await service.fetch('/v1/%ff2025550143');
    await service.fetch('/v1/goals', { headers: { authorization: `Bearer ${secretKey}` } });
    const log = service.logged();
    for (const secret of ['2025550143', 'Lovelace', secretKey, service.key.slice(34)])
      expect(log).not.toContain(secret);
    expect(log.trim().split('\n')).toHaveLength(8);
  });
});

describe('the operator’s routes', () => {
  it('are mounted under /operator/v1, with the same envelope', async () => {
    await start({
      operator: async (app) => {
        app.get('/accounts', () => ({ object: 'list' }));
        app.get('/broken', () => {
          throw new Refusal('already_exists', 'there is one');
        });
      },
    });
    expect(await (await service.fetch('/operator/v1/accounts')).json()).toEqual({ object: 'list' });
    expect(await refusal(await service.fetch('/operator/v1/broken'))).toBe('409 already_exists');
    expect(await refusal(await service.fetch('/operator/v1/nothing'))).toBe('404 not_found');
    expect(await refusal(await service.fetch('/operator/v1/accounts', { method: 'POST' }))).toBe(
      '405 method_not_allowed',
    );
  });
});

describe('the documentation', () => {
  it('is served by the process itself', async () => {
    await start(undefined);
    const document = await service.fetch('/openapi.json');
    expect(document.headers.get('content-type')).toBe('application/json; charset=utf-8');
    const text = await document.text();
    expectWellFormed(200, (name) => document.headers.get(name), text);
    expect(JSON.parse(text)).toMatchObject({ openapi: '3.1.0' });
    const page = await service.fetch('/docs');
    const html = await page.text();
    expect(page.headers.get('content-type')).toContain('text/html');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link = '']) => link);
    expect(assets.length).toBeGreaterThan(3);
    for (const link of assets) {
      expect(link).not.toMatch(/^(?:https?:)?\/\//);
      const asset = await service.fetch(new URL(link, `${service.origin}/docs`).pathname);
      expect(asset.status).toBe(200);
    }
    expect(await refusal(await service.fetch('/docs/static/none.js'))).toBe('404 not_found');
    expect(await refusal(await service.fetch('/docs/static/..%2f..%2fpackage.json'))).toBe('404 not_found');
  });
});
