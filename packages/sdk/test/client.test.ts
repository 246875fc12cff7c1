import { afterEach, describe, expect, test } from 'vitest';
import {
  Trunkcall,
  TrunkcallError,
  TrunkcallTimeout,
  TrunkcallUnreachable,
  type ClientOptions,
} from '../src/index.ts';
import { refusal, scriptedServer, type Reply, type ScriptedServer } from './scripted-server.ts';

const run = { id: 'grun_1', object: 'goal_run', status: 'in_progress', result: null, error: null };
const done = { ...run, status: 'completed', result: { confirmed: true } };

let server: ScriptedServer | undefined;
afterEach(() => server?.close());

const asked = (seconds: string) => refusal(429, 'rate_limit_exceeded', { 'retry-after': seconds });

/** A client whose pauses take no time; they are noted instead. */
async function against(replies: readonly Reply[], options: Partial<ClientOptions> = {}) {
  server = await scriptedServer(replies);
  const pauses: number[] = [];
  const client = new Trunkcall({
    baseUrl: `${server.origin}/`,
    apiKey: 'tc_test_key',
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      pauses.push(ms);
    },
    ...options,
  });
  return { client, pauses, sent: server.sent };
}

describe('requests', () => {
  test('a page of Goals is asked for with limit and cursor, unchanged', async () => {
    const { client, sent } = await against([{ body: { object: 'list', data: [], next_cursor: null } }]);
    await client.listGoals({ limit: 5, after: 'a+b/c=' });
    await client.listGoals();
    expect(sent.map(({ url }) => url)).toEqual(['/v1/goals?limit=5&after=a%2Bb%2Fc%3D', '/v1/goals']);
    expect(sent[0]?.headers['authorization']).toBe('Bearer tc_test_key');
  });

  test('ids can not reach beyond their place in the path', async () => {
    const { client, sent } = await against([{ body: run }]);
    await client.getRun('goal_1/../x', 'grun_1?y');
    expect(sent[0]?.url).toBe('/v1/goals/goal_1%2F..%2Fx/runs/grun_1%3Fy');
  });

  test('a Run is created with the given key, in UTF-8, and tells whether it was a replay', async () => {
    const { client, sent } = await against([
      { status: 201, headers: { 'idempotency-replayed': 'true' }, body: run },
    ]);
    const created = await client.createRun('goal_1', {
      phone: '+12125550100',
      variables: { a: 1 },
      idempotencyKey: 'é1',
    });
    expect(created).toMatchObject({ run: { id: 'grun_1' }, idempotencyKey: 'é1', replayed: true });
    expect(sent[0]).toMatchObject({
      method: 'POST',
      url: '/v1/goals/goal_1/runs',
      body: '{"phone":"+12125550100","variables":{"a":1}}',
    });
    expect(Buffer.from(sent[0]?.headers['idempotency-key'] as string, 'latin1').toString()).toBe('é1');
  });

  test('without a given key each Run gets its own', async () => {
    const { client, sent } = await against([{ status: 201, body: run }]);
    await client.createRun('goal_1', { phone: '+12125550100' });
    await client.createRun('goal_1', { phone: '+12125550100' });
    const keys = sent.map(({ headers }) => headers['idempotency-key']);
    expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
    expect(keys[1]).not.toBe(keys[0]);
  });
});

describe('repetition', () => {
  test.each<[string, Reply]>([
    ['429', refusal(429, 'rate_limit_exceeded')],
    ['502', refusal(502, 'provider_unavailable')],
    ['503', refusal(503, 'provider_unavailable')],
    ['a cut connection', { instead: 'cut' }],
    ['an answer that is no JSON', { body: '<html>' }],
  ])('after %s a Run is asked for again with the same key and body', async (_name, reply) => {
    const { client, sent } = await against([reply, reply, { status: 201, body: run }]);
    await client.createRun('goal_1', { phone: '+12125550100' });
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
  });

  test('pauses are as long as the service asks, at most half a minute and a quarter', async () => {
    const { client, pauses } = await against([asked('3'), asked('9999'), { body: done }]);
    await client.getRun('goal_1', 'grun_1');
    expect(pauses[0]).toBeGreaterThanOrEqual(3_000);
    expect(pauses[0]).toBeLessThanOrEqual(3_750);
    expect(pauses[1]).toBeGreaterThanOrEqual(30_000);
    expect(pauses[1]).toBeLessThanOrEqual(37_500);
  });

  test('pauses grow when the service names none', async () => {
    const { client, pauses } = await against([refusal(503, 'provider_unavailable')], { maxTries: 4 });
    await expect(client.getRun('goal_1', 'grun_1')).rejects.toBeInstanceOf(TrunkcallError);
    expect(pauses.map((ms) => Math.floor(Math.log2(ms / 249)))).toEqual([0, 1, 2]);
  });

  test.each([400, 401, 403, 404, 409, 422, 500])('%i is not repeated', async (status) => {
    const { client, sent } = await against([refusal(status, 'invalid_request')]);
    await expect(client.getGoal('goal_1')).rejects.toBeInstanceOf(TrunkcallError);
    expect(sent).toHaveLength(1);
  });

  test('it gives up after five tries and says why', async () => {
    const { client, sent } = await against([refusal(503, 'provider_unavailable')]);
    await expect(client.getGoal('goal_1')).rejects.toMatchObject({
      status: 503,
      code: 'provider_unavailable',
    });
    expect(sent).toHaveLength(5);
  });
});

describe('errors', () => {
  test('a refusal carries status, code, message, details and request id', async () => {
    const { client } = await against([refusal(409, 'goal_not_published')]);
    const failed = client.getGoal('goal_1');
    await expect(failed).rejects.toBeInstanceOf(TrunkcallError);
    await expect(failed).rejects.toMatchObject({
      status: 409,
      code: 'goal_not_published',
      message: 'refused as goal_not_published',
      details: { hint: 1 },
      requestId: 'req_1',
    });
  });

  test.each(['<html>', '"text"', '{"error":"x"}', 'null', ''])(
    'an error without the envelope (%j) has the code unknown',
    async (body) => {
      const { client } = await against([{ status: 404, body }]);
      await expect(client.getGoal('goal_1')).rejects.toMatchObject({
        status: 404,
        code: 'unknown',
        requestId: null,
      });
    },
  );

  test('a service that does not answer in time is unreachable', async () => {
    const { client } = await against([{ instead: 'silence' }], { requestTimeoutMs: 50, maxTries: 2 });
    await expect(client.getGoal('goal_1')).rejects.toBeInstanceOf(TrunkcallUnreachable);
  });

  test('nobody listening is unreachable', async () => {
    const { client } = await against([], { maxTries: 1 });
    await server?.close();
    server = undefined;
    await expect(client.getGoal('goal_1')).rejects.toBeInstanceOf(TrunkcallUnreachable);
  });

  test('the key does not follow a redirect', async () => {
    const { client, sent } = await against([{ status: 302, headers: { location: '/elsewhere' } }], {
      maxTries: 1,
    });
    await expect(client.getGoal('goal_1')).rejects.toBeInstanceOf(TrunkcallUnreachable);
    expect(sent).toHaveLength(1);
  });
});

describe('waiting for a Run', () => {
  test('it polls as often as the service suggests until there is a result', async () => {
    const open = { body: run, headers: { 'retry-after': '2' } };
    const { client, pauses, sent } = await against([
      open,
      open,
      { body: { ...run, status: 'completed' } },
      { body: done },
    ]);
    expect(await client.waitForRun('goal_1', 'grun_1')).toEqual(done);
    expect(sent).toHaveLength(4);
    expect(pauses).toEqual([2_000, 2_000, 2_000]);
  });

  test('it ends with an error just the same', async () => {
    const failed = {
      ...run,
      status: 'failed',
      error: { code: 'no_answer', message: '', detail_code: 'busy' },
    };
    const { client } = await against([{ body: failed }]);
    expect(await client.waitForRun('goal_1', 'grun_1')).toEqual(failed);
  });

  test.each([
    ['0', 250],
    ['86400', 30_000],
    ['soon', 2_000],
  ])('a Retry-After of %s becomes a pause of %i ms', async (header, pauseMs) => {
    const { client, pauses } = await against([
      { body: run, headers: { 'retry-after': header } },
      { body: done },
    ]);
    await client.waitForRun('goal_1', 'grun_1');
    expect(pauses).toEqual([pauseMs]);
  });

  test('it gives up when its time is over', async () => {
    const { client, sent } = await against([{ body: run }]);
    await expect(client.waitForRun('goal_1', 'grun_1', { timeoutMs: 1_000 })).rejects.toBeInstanceOf(
      TrunkcallTimeout,
    );
    expect(sent).toHaveLength(1);
  });
});

describe('a signal', () => {
  test('that has aborted lets nothing leave', async () => {
    const { client, sent } = await against([{ body: run }]);
    const reason = new Error('enough');
    await expect(client.getGoal('goal_1', { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(sent).toHaveLength(0);
  });

  test('ends a request under way with its reason', async () => {
    const { client } = await against([{ instead: 'silence' }]);
    const enough = new AbortController();
    const reason = new Error('enough');
    const failed = client.getGoal('goal_1', { signal: enough.signal });
    enough.abort(reason);
    await expect(failed).rejects.toBe(reason);
  });

  test('ends a real pause at once', async () => {
    server = await scriptedServer([{ body: run, headers: { 'retry-after': '30' } }]);
    const client = new Trunkcall({ baseUrl: server.origin, apiKey: 'k' });
    const enough = new AbortController();
    const reason = new Error('enough');
    const failed = client.waitForRun('goal_1', 'grun_1', { signal: enough.signal });
    await expect.poll(() => server?.sent.length).toBe(1);
    enough.abort(reason);
    await expect(failed).rejects.toBe(reason);
  });
});
