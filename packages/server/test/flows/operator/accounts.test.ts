import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statement } from '../../../src/storage/database.ts';
import { databases } from '../../kit/database.ts';
import { startOperatorService, type OperatorService } from './service.ts';

const auditOf = statement<{ action: string; person_id: string | null; details: unknown }>(
  'test_audit_of',
  'select action, person_id, details from audit_log where account_id = $1 order by id',
);

describe.each(databases)('accounts and keys on %s', (kind) => {
  let service: OperatorService;
  beforeAll(async () => {
    service = await startOperatorService(kind);
  });
  afterAll(() => service.close());

  test('an account is created once, whatever the concurrency', async () => {
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, () => service.operator.createAccount('race')),
    );
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = tries.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as unknown] : [],
    );
    expect(refused).toEqual(
      Array.from({ length: 7 }, () => expect.objectContaining({ code: 'already_exists' })),
    );
    const { data } = await service.operator.listAccounts();
    expect(data.filter(({ name }) => name === 'race')).toHaveLength(1);
  });

  test.each(['A', 'Müller & Söhne (Berlin)', "O'Hara, Inc.", '株式会社', 'x'.repeat(64)])(
    '%s can be a name',
    async (name) => {
      await expect(service.operator.createAccount(name)).resolves.toMatchObject({ name, active_calls: 0 });
    },
  );

  test.each(['', ' a', 'a ', '-a', 'x'.repeat(65), 'a\nb', 'a\u202eb', 'acct_1', 'e\u0301', '<b>'])(
    '%j can not',
    async (name) => {
      await expect(service.operator.createAccount(name)).rejects.toMatchObject({
        status: 400,
        code: 'invalid_request',
      });
    },
  );

  test('the limit of live calls can be changed, by id or name, within its bounds', async () => {
    const { id } = await service.operator.createAccount('limited');
    await expect(service.operator.updateAccount('limited', { max_active_calls: 3 })).resolves.toMatchObject({
      id,
      max_active_calls: 3,
    });
    await expect(service.operator.updateAccount(id, { max_active_calls: 0 })).rejects.toMatchObject({
      status: 400,
    });
    await expect(service.operator.updateAccount('nobody', { max_active_calls: 3 })).rejects.toMatchObject({
      status: 404,
    });
    await expect(service.operator.updateAccount('a\0', { max_active_calls: 3 })).rejects.toMatchObject({
      status: 404,
    });
  });

  test('the first sentence is switched off with a reason alone, which the audit log keeps', async () => {
    const { operator } = service;
    const { id, disclosure } = await operator.createAccount('Quiet');
    expect(disclosure).toEqual({ off: false });
    for (const wrong of [
      { off: true },
      { off: true, reason: '  because  ' },
      { off: false, reason: 'no reason at all' },
      { off: true, reason: 'Everybody agreed\u202e to it.' },
    ]) {
      await expect(operator.updateAccount(id, { disclosure: wrong })).rejects.toMatchObject({
        status: 400,
        message: expect.stringContaining('disclosure.reason'),
      });
    }
    const reason = 'Every customer has agreed in writing to calls by a machine.';
    const off = await operator.updateAccount('Quiet', { disclosure: { off: true, reason: ` ${reason}\n` } });
    expect(off.disclosure).toEqual({ off: true, reason, by: null, at: expect.stringMatching(/^20/) });
    // Other settings leave it alone.
    expect(await operator.updateAccount(id, { max_active_calls: 7 })).toMatchObject({
      disclosure: off.disclosure,
    });
    const on = await operator.updateAccount(id, { disclosure: { off: false } });
    expect(on.disclosure).toEqual({ off: false });
    const audit = await service.database.db.query(auditOf, [id]);
    expect(audit).toEqual([
      { action: 'account.created', person_id: null, details: { name: 'Quiet' } },
      { action: 'account.disclosure_off', person_id: null, details: { reason } },
      { action: 'account.changed', person_id: null, details: { max_active_calls: 7 } },
      { action: 'account.disclosure_on', person_id: null, details: {} },
    ]);
  });

  test('a key works until it is revoked, and is shown only when it is made', async () => {
    const { id } = await service.operator.createAccount('keyed');
    const expires_at = '2099-01-01T00:00:00Z';
    const created = await service.operator.createKey({
      account: 'keyed',
      scopes: ['goals:read'],
      regions: ['US'],
      expires_at,
    });
    expect(created).toMatchObject({
      account_id: id,
      scopes: ['goals:read'],
      regions: ['US'],
      revoked_at: null,
    });
    const list = () =>
      fetch(`${service.origin}/v1/goals`, { headers: { authorization: `Bearer ${created.key}` } });
    expect((await list()).status).toBe(200);
    await service.operator.revokeKey(created.id);
    expect((await list()).status).toBe(401);
    const { data } = await service.operator.listKeys(id);
    expect(data).toMatchObject([{ id: created.id, expires_at: new Date(expires_at).toISOString() }]);
    expect(JSON.stringify(data)).not.toContain(created.key);
  });

  test.each([
    [{ account: 'nobody' }, 404],
    [{ account: 'keyed', scopes: ['everything'] }, 400],
    [{ account: 'keyed', scopes: [] }, 400],
    [{ account: 'keyed', regions: ['usa'] }, 400],
    [{ account: 'keyed', expires_at: '2099-01-01' }, 400],
    [{ account: 'keyed', expires_at: '2099-02-31T25:00:00Z' }, 400],
    [{ account: 'keyed', expires_at: '2001-01-01T00:00:00Z' }, 400],
    [{ account: 'keyed', colour: 'red' }, 400],
    [{}, 400],
  ])('a key that is asked for as %j is refused with %i', async (body, status) => {
    const response = await fetch(`${service.origin}/operator/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } });
  });
});
