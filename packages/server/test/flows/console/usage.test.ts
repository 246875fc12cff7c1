import type { ConsoleAuditEntry, ConsoleOverview, OperatorList, Usage } from '@trunkcall/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sweepUsage } from '../../../src/billing/sweep.ts';
import { databases } from '../../kit/database.ts';
import { insertEnded, sweepDependencies } from '../../kit/ended-attempts.ts';
import { ids, startConsole, type ConsoleService, type Visitor } from './service.ts';

describe.each(databases)('usage in the console on %s', (kind) => {
  let service: ConsoleService;
  let viewer: Visitor;
  let author: Visitor;
  let owner: Visitor;
  let operator: Visitor;
  let path = '';
  beforeAll(async () => {
    service = await startConsole(kind);
    operator = await service.operator();
    [viewer, author, owner] = [
      await service.person('viewer'),
      await service.person('author'),
      await service.person('owner'),
    ];
    path = `/accounts/${service.accountId}`;
    const { db } = service.database;
    // It ends now: in this month, also when it was dialled in the last one.
    const dialedAt = new Date(Date.now() - 65_000);
    await insertEnded(db, ids, { accountId: service.accountId, goalId: 'goal_x', dialedAt, lastsMs: 60_000 });
    await sweepUsage(sweepDependencies(db, ids));
  });
  afterAll(() => service.close());

  test('whoever may read the account sees what its calls would cost; a stranger sees no account', async () => {
    for (const person of [viewer, author, owner, operator]) {
      const usage = await person.get<Usage>(`${path}/usage`);
      expect(usage).toMatchObject({
        preview: true,
        charged: false,
        totals: { attempts: 1, total: '0.1088' },
      });
    }
    const csv = await viewer.send('GET', `${path}/usage?format=csv&by=call`);
    expect(csv.headers.get('content-type')).toContain('text/csv');
    expect((await csv.text()).split('\r\n')).toHaveLength(3);
    expect((await viewer.send('GET', `/accounts/${service.otherAccountId}/usage`)).status).toBe(404);
    expect((await viewer.send('GET', '/accounts/acct_1/usage')).status).toBe(404);
    expect((await service.visitor().send('GET', `${path}/usage`)).status).toBe(401);
  });

  test('the totals of all accounts are for operators', async () => {
    expect((await owner.send('GET', '/usage')).status).toBe(403);
    await expect(operator.get('/usage')).resolves.toMatchObject({
      totals: { total: '0.1088' },
      data: [
        { name: 'Acme', total: '0.1088' },
        { name: 'Rival', total: '0.0000' },
      ],
    });
  });

  test('owners set the budget, which is noted; others may not', async () => {
    const body = { monthly_budget: '0.12' };
    expect((await viewer.send('PUT', `${path}/budget`, body)).status).toBe(403);
    expect((await author.send('PUT', `${path}/budget`, body)).status).toBe(403);
    expect((await owner.send('PUT', `/accounts/${service.otherAccountId}/budget`, body)).status).toBe(404);
    expect((await owner.send('PUT', `${path}/budget`, { monthly_budget: '-1' })).status).toBe(400);
    expect((await owner.send('PUT', `${path}/budget`, { ...body, max_active_calls: 9 })).status).toBe(400);
    expect((await owner.send('PUT', `${path}/budget`, {})).status).toBe(400);
    const set = await owner.send('PUT', `${path}/budget`, body);
    expect(await set.json()).toMatchObject({ monthly_budget: '0.1200', max_active_calls: 10 });
    const { data } = await owner.get<OperatorList<ConsoleAuditEntry>>(`/audit?account=${service.accountId}`);
    expect(data[0]).toMatchObject({ action: 'account.budget', details: body, person: { name: 'owner' } });
  });

  test('a budget that is nearly used up shows on the overview, and once in the audit log', async () => {
    // That no worker runs here is another matter.
    const alerts = async () =>
      (await viewer.get<ConsoleOverview>(`${path}/overview`)).alerts.filter(
        ({ kind }) => kind === 'budget_reached',
      );
    expect(await alerts()).toEqual([
      {
        kind: 'budget_reached',
        message: 'This month’s calls would cost 0.1088 USD: 90 % of the budget of 0.1200 USD.',
        hint: 'Preview of prices; nothing is charged.',
        goal_id: null,
      },
    ]);
    const { db } = service.database;
    await sweepUsage(sweepDependencies(db, ids));
    await sweepUsage(sweepDependencies(db, ids));
    const { data } = await owner.get<OperatorList<ConsoleAuditEntry>>(`/audit?account=${service.accountId}`);
    const month = new Date().toISOString().slice(0, 7);
    expect(data.filter(({ action }) => action === 'budget.reached')).toMatchObject([
      { person: null, object_id: service.accountId, details: { percent: 80, month } },
    ]);
    await owner.send('PUT', `${path}/budget`, { monthly_budget: '1' });
    expect(await alerts()).toEqual([]);
    await owner.send('PUT', `${path}/budget`, { monthly_budget: null });
    expect(await alerts()).toEqual([]);
  });
});
