import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OperatorPerson } from '@trunkcall/contract';
import { followLink, lookAtLink } from '../../../src/authoring/people.ts';
import { listAudit, listAccountAudit } from '../../../src/storage/audit.ts';
import { databases } from '../../kit/database.ts';
import { goalFile } from '../../kit/fixtures.ts';
import { ids, startOperatorService, type OperatorService } from './service.ts';

describe.each(databases)('people in the operator API on %s', (kind) => {
  let service: OperatorService;
  let account: string;
  beforeAll(async () => {
    service = await startOperatorService(kind);
    ({ id: account } = await service.operator.createAccount('people'));
  });
  afterAll(() => service.close());

  /** Follows an invitation. */
  async function join(email: string, role: 'viewer' | 'operator'): Promise<OperatorPerson> {
    const { token } = await service.operator.invitePerson('people', { email, role });
    const order = { token: token ?? '', email: null, name: 'Ada', passwordHash: 'none' };
    await service.database.db.transaction((tx) => followLink(tx, ids, order));
    const { data } = await service.operator.listPeople(account);
    const person = data.find((one) => one.email === email);
    if (person === undefined) throw new Error(`${email} did not join`);
    return person;
  }

  test('an invitation is a link for the address and the role, by which a person comes', async () => {
    const { token, expires_at } = await service.operator.invitePerson(account, {
      email: 'New@Example.com',
      role: 'author',
    });
    expect(Date.parse(expires_at ?? '')).toBeGreaterThan(Date.now());
    const link = await lookAtLink(service.database.db, token ?? '');
    expect(link).toEqual({ purpose: 'invitation', email: 'new@example.com', role: 'author' });
    await expect(join('joins@example.com', 'viewer')).resolves.toMatchObject({
      role: 'viewer',
      operator: false,
    });
  });

  test('a newer invitation ends the older one; withdrawn, none is left', async () => {
    const { operator, database } = service;
    const email = 'twice@example.com';
    const first = await operator.invitePerson(account, { email, role: 'owner' });
    const second = await operator.invitePerson(account, { email, role: 'viewer' });
    await expect(lookAtLink(database.db, first.token ?? '')).rejects.toMatchObject({ code: 'not_found' });
    const { data } = await operator.listInvitations(account);
    expect(data.filter((one) => one.email === email)).toMatchObject([
      { role: 'viewer', expires_at: second.expires_at },
    ]);
    expect(await operator.withdrawInvitation(account, ' Twice@example.com')).toMatchObject({
      data: [{ email, role: 'viewer' }],
    });
    await expect(lookAtLink(database.db, second.token ?? '')).rejects.toMatchObject({ code: 'not_found' });
    await expect(operator.withdrawInvitation(account, email)).rejects.toMatchObject({ code: 'not_found' });
    const [entry] = await database.db.query(listAccountAudit, [account, null, 1]);
    expect(entry).toMatchObject({
      action: 'person.invitation_withdrawn',
      details: { email, role: 'viewer' },
    });
  });

  test('who is removed comes back by no link that was made before', async () => {
    const { operator, database } = service;
    const email = 'leaves@example.com';
    const { id: other } = await operator.createAccount('left behind');
    const elsewhere = await operator.invitePerson(other, { email, role: 'owner' });
    const { id } = await join(email, 'viewer');
    await operator.removePerson(id);
    await expect(lookAtLink(database.db, elsewhere.token ?? '')).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a person who is there gets the role without a link, another one later, then none', async () => {
    const { id } = await join('moves@example.com', 'viewer');
    const again = { email: 'moves@example.com', role: 'author' } as const;
    await expect(service.operator.invitePerson(account, again)).resolves.toEqual({
      token: null,
      expires_at: null,
    });
    await expect(service.operator.setPersonRole(account, id, 'owner')).resolves.toMatchObject({
      id,
      role: 'owner',
    });
    await expect(service.operator.takePersonRole(account, id)).resolves.toMatchObject({ id, role: null });
    const { data } = await service.operator.listPeople(account);
    expect(data.map((person) => person.id)).not.toContain(id);
    await expect(service.operator.takePersonRole(account, id)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a link for a new password is that person’s', async () => {
    const { id } = await join('forgets@example.com', 'viewer');
    const { token } = await service.operator.createPasswordLink(id);
    expect(await lookAtLink(service.database.db, token ?? '')).toMatchObject({
      purpose: 'new_password',
      email: 'forgets@example.com',
    });
  });

  test('a removed person is gone, but the last operator stays', async () => {
    const { id } = await join('goes@example.com', 'viewer');
    await expect(service.operator.removePerson(id)).resolves.toMatchObject({ id, role: null });
    await expect(service.operator.removePerson(id)).rejects.toMatchObject({ code: 'not_found' });
    const operator = await join('runs@example.com', 'operator');
    await expect(service.operator.removePerson(operator.id)).rejects.toMatchObject({
      status: 403,
      code: 'forbidden',
    });
  });

  test('what the token changes of people stands in the audit log, as nobody’s doing', async () => {
    const { id } = await join('noted@example.com', 'viewer');
    await service.operator.setPersonRole(account, id, 'author');
    const [entry] = await service.database.db.query(listAccountAudit, [account, null, 1]);
    expect(entry).toMatchObject({ person_id: null, action: 'person.role_set', object_id: id });
    await service.operator.removePerson(id);
    const [newest] = await service.database.db.query(listAudit, [null, 1]);
    expect(newest).toMatchObject({ person_id: null, action: 'person.removed', object_id: id });
  });

  test('whatever else the token changes stands there, too', async () => {
    const { operator, database } = service;
    const noted = async (accountId: string | null) => {
      const rows =
        accountId === null
          ? await database.db.query(listAudit, [null, 100])
          : await database.db.query(listAccountAudit, [accountId, null, 100]);
      return rows
        .filter(({ person_id }) => person_id === null)
        .map(({ action, object_id }) => `${action} ${object_id.split('_')[0] ?? ''}`)
        .toReversed();
    };
    const { id: account_id } = await operator.createAccount('watched');
    await operator.updateAccount(account_id, { max_active_calls: 3 });
    const key = await operator.createKey({ account: account_id });
    await operator.revokeKey(key.id);
    const file = { text: JSON.stringify(goalFile()), mediaType: 'application/json' } as const;
    const goal = await operator.applyGoal(account_id, file);
    await operator.applyGoal(account_id, file, goal.id);
    await operator.commandGoal(goal.id, 'publish');
    await operator.commandGoal(goal.id, 'pause');
    const number = await operator.addNumber({ phone: '+12025550160', account: account_id });
    await operator.updateNumber(number.id, { label: 'Desk' });
    await operator.removeNumber(number.id);
    const webhook = await operator.createWebhook({ account: account_id, url: 'https://hooks.example.com/' });
    const { id: delivery } = await operator.testWebhook(webhook.id);
    await operator.switchWebhook(webhook.id, 'disable');
    await operator.switchWebhook(webhook.id, 'enable');
    await operator.replayDelivery(delivery);
    await operator.rotateWebhookSecret(webhook.id);
    await operator.removeWebhook(webhook.id);
    const { call } = await (
      await service.developer(account_id)
    ).createCallTask({ task: 'Call +12025550100.' });
    await operator.cancelCall(call.id);
    expect(await noted(account_id)).toEqual([
      'account.created acct',
      'account.changed acct',
      'key.created key',
      'key.revoked key',
      'goal.created goal',
      'goal.draft_saved goal',
      'goal.publish goal',
      'goal.pause goal',
      'number.added num',
      'number.changed num',
      'number.removed num',
      'webhook.created whe',
      'webhook.tested whe',
      'webhook.disabled whe',
      'webhook.enabled whe',
      'delivery.replayed dlv',
      'webhook.secret_rotated whe',
      'webhook.removed whe',
      'key.created key',
      'call.cancel call',
    ]);
    await operator.testTrunk('simulated', { phone: '+12025550100' });
    expect((await noted(null)).at(-1)).toBe('trunk.tested tcall');
  });

  test.each([
    ['an address that is none', { email: 'ada', role: 'author' }, 400],
    ['a role that is none', { email: 'ada@example.com', role: 'king' }, 400],
  ])('%s is refused', async (_name, sent, status) => {
    const response = await fetch(`${service.origin}/operator/v1/accounts/${account}/people`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(sent),
    });
    expect(response.status).toBe(status);
  });

  test('the document of the API is served without a token', async () => {
    const response = await fetch(`${service.origin}/operator/v1/openapi.json`);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ openapi: '3.1.0', security: [{ operatorToken: [] }] });
  });
});
