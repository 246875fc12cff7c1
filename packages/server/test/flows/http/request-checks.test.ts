import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiErrorCode } from '@trunkcall/contract';
import { expectWellFormed, refusal, refusalOf } from './envelope.ts';
import { exchangeRaw, ids, startService, type Service } from './service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

const phone = '+12025550100';
const valid = { phone, variables: { name: 'Ada' } };

/** A body with a problem that only the strict parser sees, inside variables. */
const broken = (number: string) => `{"phone":"${number}","variables":{"name":1e999}}`;

describe('the order of the checks', () => {
  /** A request that fails every check; each step mends the one that has just answered. */
  it('is size, key, scope, rate, headers, JSON, shape, Goal, key look-up, phone, state, variables', async () => {
    const readOnly = await service.newKey({ scopes: ['runs:read'] });
    const usedKey = ids.next('evt');
    expect((await service.post(valid, { 'idempotency-key': usedKey })).status).toBe(201);
    const request = {
      path: `/v1/goals/${ids.next('goal')}/runs`,
      headers: new Headers({ authorization: 'Bearer wrong', 'content-type': 'text/plain' }),
      body: `{"phone":1,"task":"x",${' '.repeat(70_000)}`,
    };
    const send = () =>
      service.fetch(request.path, { method: 'POST', headers: request.headers, body: request.body });
    const step = async (status: number, code: ApiErrorCode, mend: () => void) => {
      expect(await refusal(await send())).toBe(`${status} ${code}`);
      mend();
    };
    await step(413, 'payload_too_large', () => (request.body = '{"phone":1,"task":"x",'));
    await step(401, 'unauthorized', () => request.headers.set('authorization', `Bearer ${readOnly}`));
    await step(403, 'forbidden', () => request.headers.set('authorization', `Bearer ${service.key}`));
    await step(400, 'invalid_request', () => request.headers.set('idempotency-key', usedKey));
    await step(400, 'invalid_request', () => request.headers.set('content-type', 'application/json'));
    await step(400, 'invalid_request', () => (request.body = '{"phone":"1","task":"x"}'));
    await step(422, 'schema_override_not_allowed', () => (request.body = '{"phone":"1"}'));
    await step(404, 'not_found', () => (request.path = `/v1/goals/${service.goalId}/runs`));
    await step(409, 'idempotency_conflict', () => request.headers.set('idempotency-key', ids.next('evt')));
    await step(422, 'invalid_phone', () => (request.body = `{"phone":"${phone}"}`));
    await step(422, 'variables_invalid', () => (request.body = JSON.stringify(valid)));
    expect((await send()).status).toBe(201);
  });

  it('asks for the key before it looks at a Content-Type, however broken', async () => {
    const [response] = await exchangeRaw(
      service.port,
      `POST /v1/goals/${service.goalId}/runs HTTP/1.1\r\nHost: x\r\nContent-Type: ;;;\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    );
    expect(response?.status).toBe(401);
  });

  it('holds for rates too: 403 before 429, 429 before what the headers say', async () => {
    const limited = await startService({ settings: { keyRate: { perSecond: 1, burst: 1 } } });
    const authorization = `Bearer ${await limited.newKey({ scopes: ['goals:read'] })}`;
    expect((await limited.fetch('/v1/goals', { headers: { authorization } })).status).toBe(200);
    expect(await refusal(await limited.post('{', { authorization }))).toBe('403 forbidden');
    expect((await limited.post(valid)).status).toBe(201);
    expect(await refusal(await limited.post('{', { 'idempotency-key': '' }))).toBe('429 rate_limit_exceeded');
    await limited.close();
  });

  it('reports what is wrong inside variables in its turn: after the Goal, the key, the phone', async () => {
    const path = `/v1/goals/${ids.next('goal')}/runs`;
    const headers = { 'content-type': 'application/json', 'idempotency-key': ids.next('evt') };
    expect(await refusal(await service.fetch(path, { method: 'POST', headers, body: broken(phone) }))).toBe(
      '404 not_found',
    );
    expect(await refusal(await service.post(broken('none')))).toBe('422 invalid_phone');
    expect(await refusal(await service.post(broken(phone)))).toBe('422 variables_invalid');
    const used = { 'idempotency-key': ids.next('evt') };
    expect((await service.post(valid, used)).status).toBe(201);
    expect(await refusal(await service.post(broken(phone), used))).toBe('409 idempotency_conflict');
  });
});

/** Posts a valid Run with exactly these header lines besides those of every request; ends with the status. */
async function postWith(lines: readonly string[]): Promise<number> {
  const body = JSON.stringify(valid);
  const head = [
    `POST /v1/goals/${service.goalId}/runs HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${service.key}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    ...lines,
  ];
  const [response] = await exchangeRaw(
    service.port,
    Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`, 'latin1'),
  );
  if (response === undefined) throw new Error('no response');
  expectWellFormed(response.status, (name) => response.headers.get(name), response.body);
  return response.status;
}

const keyLine = () => `Idempotency-Key: ${ids.next('evt')}`;

describe('headers', () => {
  const json = 'Content-Type: application/json';

  it('400: no Idempotency-Key, two of them, an empty, a too long or an undecodable one', async () => {
    expect(await postWith([json])).toBe(400);
    expect(await postWith([json, keyLine(), keyLine()])).toBe(400);
    expect(await postWith([json, 'Idempotency-Key: same', 'idempotency-key: same'])).toBe(400);
    expect(await postWith([json, 'Idempotency-Key:'])).toBe(400);
    expect(await postWith([json, 'Idempotency-Key: \t '])).toBe(400);
    expect(await postWith([json, `Idempotency-Key: ${'a'.repeat(256)}`])).toBe(400);
    expect(await postWith([json, 'Idempotency-Key: \xff\xfe'])).toBe(400);
    expect(await postWith([json, `Idempotency-Key: ${'a'.repeat(255)}`])).toBe(201);
  });

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json ; charset="utf-8"',
  ])('201: takes the Content-Type %s', async (type) => {
    expect(await postWith([keyLine(), `Content-Type: ${type}`])).toBe(201);
  });

  it.each([
    'text/json',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json; version=1',
    'application/jsonx',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'nonsense',
    ';;;',
    '',
  ])('400, never 415: refuses the Content-Type %j', async (type) => {
    expect(await postWith([keyLine(), `Content-Type: ${type}`])).toBe(400);
  });

  it('400: refuses no Content-Type, two of them, and any Content-Encoding', async () => {
    expect(await postWith([keyLine()])).toBe(400);
    expect(await postWith([keyLine(), json, json])).toBe(400);
    expect(await postWith([keyLine(), json, 'Content-Encoding: gzip'])).toBe(400);
    expect(await postWith([keyLine(), json, 'Content-Encoding: identity, gzip'])).toBe(400);
    expect(await postWith([keyLine(), json, 'Content-Encoding: identity'])).toBe(201);
  });

  it('400: refuses query parameters', async () => {
    const path = `/v1/goals/${service.goalId}/runs?dry_run=true`;
    const headers = { 'content-type': 'application/json', 'idempotency-key': ids.next('evt') };
    const body = JSON.stringify(valid);
    expect(await refusal(await service.fetch(path, { method: 'POST', headers, body }))).toBe(
      '400 invalid_request',
    );
    expect(await refusal(await service.fetch(`/v1/goals/${service.goalId}?x`))).toBe('400 invalid_request');
  });
});

describe('the body of a Goal Run', () => {
  const sent = JSON.stringify(valid);
  it.each([
    ['nothing', ''],
    ['a broken text', '{"phone":'],
    ['two values', `${sent}${sent}`],
    ['a byte order mark', `\ufeff${sent}`],
    ['an array', `[${sent}]`],
    ['null', 'null'],
    ['a string', '"phone"'],
    ['single quotes', "{'phone':'+12025550100'}"],
    ['a comment', `/* */${sent}`],
    ['a trailing comma', `{"phone":"${phone}",}`],
    ['no phone', '{"variables":{}}'],
    ['a phone that is a number', '{"phone":12025550100}'],
    ['a phone that is null', '{"phone":null}'],
    ['a phone twice', `{"phone":"${phone}","phone":"${phone}"}`],
    ['a phone twice, once with an escape', `{"phone":"${phone}","ph\\u006fne":"${phone}"}`],
    ['variables twice', `{"phone":"${phone}","variables":{"name":"a"},"variables":{"name":"a"}}`],
    ['variables that are null', `{"phone":"${phone}","variables":null}`],
    ['variables that are an array', `{"phone":"${phone}","variables":[]}`],
    ['variables that are a string', `{"phone":"${phone}","variables":"name"}`],
    ['variables that are a number that overflows', `{"phone":"${phone}","variables":1e999}`],
    ['an unknown field', `{"phone":"${phone}","metadata":{}}`],
    ['__proto__', `{"phone":"${phone}","__proto__":{"variables":{}}}`],
    ['constructor', `{"phone":"${phone}","constructor":{"prototype":{}}}`],
    ['half of a surrogate pair outside variables', `{"phone":"${phone}\\ud800"}`],
    ['U+0000 outside variables', `{"phone":"${phone}\\u0000"}`],
    ['a raw control character', `{"phone":"${phone}\n"}`],
    ['nesting of 500,000', '['.repeat(60_000)],
    ['deep nesting in an unknown field', `{"phone":"${phone}","a":${'['.repeat(100)}${']'.repeat(100)}}`],
  ])('400: refuses %s', async (_name, body) => {
    expect(await refusal(await service.post(body))).toBe('400 invalid_request');
  });

  it('400: refuses what is not UTF-8', async () => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': ids.next('evt') };
    const path = `/v1/goals/${service.goalId}/runs`;
    for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]]) {
      const body = Buffer.concat([Buffer.from('{"phone":"'), Buffer.from(bytes), Buffer.from('"}')]);
      expect(await refusal(await service.fetch(path, { method: 'POST', headers, body }))).toBe(
        '400 invalid_request',
      );
    }
  });

  it.each([
    'task',
    'instructions',
    'prompt',
    'result_schema',
    'input_schema',
    'run_spec',
    'run_spec_id',
    'run_spec_version',
    'version',
    'provider',
    'provider_options',
    'model',
    'materialization',
    'materialization_guidance',
    'target',
    'region',
    'locale',
    'display_name',
  ])('422: names the field %s, which the Goal owns', async (field) => {
    const response = await service.post({ ...valid, [field]: null });
    expect(await refusalOf(response)).toEqual({
      status: 422,
      code: 'schema_override_not_allowed',
      message: expect.stringContaining(`'${field}'`),
    });
  });

  it.each([
    ['the same key twice', '{"name":"a","name":"b"}'],
    ['a number that overflows', '{"name":"a","parcels":1e999}'],
    ['a number that loses a digit', '{"name":"a","parcels":9007199254740993}'],
    ['half of a surrogate pair', '{"name":"\\ud800"}'],
    ['half of a surrogate pair in a key', '{"name":"a","\\udc00":1}'],
    ['U+0000', '{"name":"\\u0000"}'],
    ['__proto__', '{"name":"a","__proto__":{"polluted":true}}'],
    ['constructor', '{"name":"a","constructor":1}'],
    ['nesting of 20,000', `{"name":${'['.repeat(20_000)}${']'.repeat(20_000)}}`],
    ['an object', '{"name":{}}'],
    ['an array', '{"name":["a"]}'],
    ['null', '{"name":null}'],
    ['nothing where a value is required', '{}'],
    ['toString', '{"name":"a","toString":"a"}'],
  ])('422 variables_invalid: refuses %s in variables', async (_name, variables) => {
    const response = await service.post(`{"phone":"${phone}","variables":${variables}}`);
    expect(await refusal(response)).toBe('422 variables_invalid');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });

  it('does not take a required variable named constructor as present', async () => {
    const goal = await service.newGoal({
      instructions: 'Call.',
      input_schema: {
        type: 'object',
        additionalProperties: false,
        properties: Object.fromEntries(
          ['constructor', 'toString'].map((name) => [name, { type: 'string' as const }]),
        ),
        required: ['constructor'],
      },
    });
    const post = (variables: unknown) =>
      service.fetch(`/v1/goals/${goal}/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': ids.next('evt') },
        body: JSON.stringify({ phone, variables }),
      });
    expect(await refusal(await post({}))).toBe('422 variables_invalid');
    expect((await post({ constructor: 'x' })).status).toBe(201);
  });

  it('repeats no value that was sent, and no key that could be one', async () => {
    const secret = '12025550199';
    const bodies = [
      `{"phone":"+${secret}x"}`,
      `{"phone":"${phone}","${secret}":1}`,
      `{"phone":"${phone}","variables":{"${secret}":"a","${secret}":"b","name":"x"}}`,
      `{"phone":"${phone}","variables":{"name":"${secret}\\ud800"}}`,
      `{"phone":"${phone}" ${secret}`,
    ];
    for (const body of bodies) {
      const response = await service.post(body);
      expect(response.ok).toBe(false);
      expect(await response.text()).not.toContain(secret);
    }
  });
});
