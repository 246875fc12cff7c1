import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { goalRunErrors, type GoalRunErrorCode } from '@trunkcall/contract';
import { statement } from '../../../src/storage/database.ts';
import { databases } from '../../kit/database.ts';
import { refusal, expectWellFormed, refusalOf } from './envelope.ts';
import { ids, startService, type Service } from './service.ts';

const phone = '+12025550100';
const variables = { name: 'Ada' };
const fieldNames = [
  'id',
  'object',
  'goal_id',
  'run_id',
  'call_id',
  'status',
  'run_spec',
  'result',
  'error',
  'created_at',
  'completed_at',
];

interface GoalRunJson {
  id: string;
  run_id: string;
  goal_id: string;
  call_id: string | null;
  status: string;
  result: unknown;
  error: unknown;
  created_at: string;
  completed_at: string | null;
}

/** fetch takes header values as Latin-1, so the bytes of UTF-8 are written out. */
const utf8 = (text: string) => ({ 'idempotency-key': Buffer.from(text).toString('latin1') });

async function runOf(response: Response): Promise<GoalRunJson> {
  const text = await response.text();
  expectWellFormed(response.status, (name) => response.headers.get(name), text);
  if (!response.ok) throw new Error(text);
  const run = JSON.parse(text) as GoalRunJson;
  expect(Object.keys(run)).toEqual(fieldNames);
  return run;
}

const finish = statement<never>(
  'test_finish_run',
  `update runs set status = $2, attempt_id = $3, result = $4::json, error_code = $5, error_detail_code = $6,
                   completed_at = now() where public_id = $1`,
);
const markRun = statement<{ readonly xmin: string }>(
  'test_row_version',
  'select xmin::text from runs where public_id = $1',
);

describe.each(databases)('Goal Runs on %s', (kind) => {
  let service: Service;
  beforeAll(async () => {
    service = await startService({ kind });
  });
  afterAll(() => service.close());

  const poll = (run: GoalRunJson) => service.fetch(`/v1/goals/${run.goal_id}/runs/${run.id}`);

  it('201: accepts a Run and says where and when to look for it', async () => {
    const response = await service.post({ phone, variables });
    expect(response.status).toBe(201);
    const run = await runOf(response);
    expect(run).toMatchObject({
      object: 'goal_run',
      goal_id: service.goalId,
      call_id: null,
      status: 'in_progress',
      result: null,
      error: null,
      completed_at: null,
      run_spec: { version: 1 },
    });
    expect(new Date(run.created_at).toISOString()).toBe(run.created_at);
    expect(response.headers.get('location')).toBe(`/v1/goals/${service.goalId}/runs/${run.id}`);
    expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(response.headers.has('idempotency-replayed')).toBe(false);
    const polled = await poll(run);
    expect(polled.status).toBe(200);
    expect(polled.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(await runOf(polled)).toEqual(run);
  });

  it('never echoes the phone or the variables', async () => {
    const response = await service.post({ phone: '+12025550143', variables: { name: 'Ada Lovelace' } });
    expect(response.status).toBe(201);
    const text = await response.text();
    expect(text).not.toContain('2025550143');
    expect(text).not.toContain('Lovelace');
  });

  it('201: answers an exact replay with the same Run as it stands, and says so', async () => {
    const key = { 'idempotency-key': ids.next('evt') };
    const first = await runOf(await service.post({ phone, variables: { name: 'Ada', parcels: 2 } }, key));
    await service.database.db.query(finish, [first.id, 'failed', ids.next('att'), null, 'no_answer', 'busy']);
    const again = await service.post(
      '{"variables":{"parcels":2.0,"na\\u006de":"Ada"},\n"phone":"+12025550100"}',
      key,
    );
    expect(again.status).toBe(201);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await runOf(again)).toMatchObject({ id: first.id, run_id: first.run_id, status: 'failed' });
  });

  it('409 idempotency_conflict: refuses another request under the same key', async () => {
    const key = { 'idempotency-key': ids.next('evt') };
    await runOf(await service.post({ phone, variables }, key));
    expect(await refusal(await service.post({ phone, variables: { name: 'Bob' } }, key))).toBe(
      '409 idempotency_conflict',
    );
    expect(await refusal(await service.post({ phone: '+12025550101', variables }, key))).toBe(
      '409 idempotency_conflict',
    );
  });

  it('201 for all of many equal requests at once, and one Run', async () => {
    const key = { 'idempotency-key': ids.next('evt') };
    const responses = await Promise.all(
      Array.from({ length: 40 }, () => service.post({ phone, variables }, key)),
    );
    const runs = await Promise.all(responses.map(runOf));
    expect(new Set(runs.map(({ id }) => id)).size).toBe(1);
    expect(responses.filter((response) => !response.headers.has('idempotency-replayed'))).toHaveLength(1);
  });

  it.each<[string, object | null, GoalRunErrorCode | null, string | null]>([
    ['completed', { confirmed: true }, null, null],
    ['completed', null, 'result_unavailable', 'nothing_said'],
    ['failed', null, 'no_answer', 'ring_timeout'],
    ['failed', null, 'declined', null],
    ['canceled', null, 'canceled', 'operator'],
  ])(
    '200: shows a Run that is %s with result %j and error %s, without Retry-After',
    async (status, result, code, detail) => {
      const run = await runOf(await service.post({ phone, variables }));
      const attempt = ids.next('att');
      const stored = result === null ? null : JSON.stringify(result);
      await service.database.db.query(finish, [run.id, status, attempt, stored, code, detail]);
      const response = await poll(run);
      expect(response.headers.has('retry-after')).toBe(false);
      const seen = await runOf(response);
      const message = goalRunErrors[code ?? 'call_failed'];
      const error = code === null ? null : { code, message, detail_code: detail };
      expect(seen).toEqual({
        ...run,
        status,
        call_id: attempt,
        result,
        error,
        completed_at: expect.any(String),
      });
      expect(Date.parse(seen.completed_at ?? '')).toBeGreaterThanOrEqual(Date.parse(seen.created_at));
    },
  );

  it('200 with Retry-After: a completed call whose result is still being drawn is not finished', async () => {
    const run = await runOf(await service.post({ phone, variables }));
    await service.database.db.query(finish, [run.id, 'completed', ids.next('att'), null, null, null]);
    const response = await poll(run);
    expect(response.headers.has('retry-after')).toBe(true);
    expect(await runOf(response)).toMatchObject({ status: 'completed', result: null, error: null });
  });

  it('a poll writes nothing (I7)', async () => {
    const run = await runOf(await service.post({ phone, variables }));
    const before = await service.database.db.query(markRun, [run.id]);
    await runOf(await poll(run));
    expect(await service.database.db.query(markRun, [run.id])).toEqual(before);
  });

  it('404 not_found: a run_id, the wrong Goal, another account, an unknown or impossible id', async () => {
    const run = await runOf(await service.post({ phone, variables }));
    const otherGoal = await service.newGoal();
    const other = await startService({ kind });
    const paths = [
      `/v1/goals/${run.goal_id}/runs/${run.run_id}`,
      `/v1/goals/${otherGoal}/runs/${run.id}`,
      `/v1/goals/${run.goal_id}/runs/${ids.next('grun')}`,
      `/v1/goals/${run.goal_id}/runs/%00`,
      `/v1/goals/${run.goal_id}/runs/${'%F0%9F%98%80'.repeat(8)}`,
    ];
    for (const path of paths) expect(await refusal(await service.fetch(path))).toBe('404 not_found');
    const foreign = await other.fetch(`/v1/goals/${run.goal_id}/runs/${run.id}`);
    expect(await refusal(foreign)).toBe('404 not_found');
    await other.close();
  });

  it('takes an Idempotency-Key of 255 characters beyond ASCII, and tells apart what only looks equal', async () => {
    const key = `${ids.next('evt')}${'📞'.repeat(255 - 30)}`;
    const first = await runOf(await service.post({ phone, variables }, utf8(key)));
    expect((await runOf(await service.post({ phone, variables }, utf8(key)))).id).toBe(first.id);
    expect(await refusal(await service.post({ phone, variables }, utf8(`${key}x`)))).toBe(
      '400 invalid_request',
    );
    // JavaScript's trim would take the no-break space and the byte order mark away.
    const base = ids.next('evt');
    const runs = [];
    for (const text of [base, `\u00a0${base}`, `${base}\u00a0`, `\ufeff${base}`]) {
      runs.push(await runOf(await service.post({ phone, variables }, utf8(text))));
    }
    expect(new Set(runs.map(({ id }) => id)).size).toBe(4);
    expect((await runOf(await service.post({ phone, variables }, utf8(` \t${base}\t `)))).id).toBe(
      runs[0]?.id,
    );
  });

  it('keeps two bodies apart that a database would make equal', async () => {
    const key = { 'idempotency-key': ids.next('evt') };
    await runOf(await service.post({ phone, variables: { name: '\ufffd' } }, key));
    const surrogate = await service.post(`{"phone":"${phone}","variables":{"name":"\\ud800"}}`, key);
    expect(await refusalOf(surrogate)).toMatchObject({ status: 409, code: 'idempotency_conflict' });
  });
});
