import type { UsageByCall } from '@trunkcall/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { noRates } from '../../../src/billing/rates.ts';
import { sweepUsage } from '../../../src/billing/sweep.ts';
import { databases } from '../../kit/database.ts';
import { insertEnded, sweepDependencies, type EndedAttempt } from '../../kit/ended-attempts.ts';
import { goalFile, publishGoal, setTitle } from '../../kit/fixtures.ts';
import { ids, startOperatorService, type OperatorService } from './service.ts';

const british = '+442079460000';
const title = '=HYPERLINK("http://x") "Ünï", two\nlines';
const march = { from: '2026-03-01', to: '2026-03-31' };

describe.each(databases)('usage by the operator API on %s', (kind) => {
  let service: OperatorService;
  let accountId = '';
  let goalId = '';
  const ended = (given: Partial<EndedAttempt> & { readonly lastsMs: number }) =>
    insertEnded(service.database.db, ids, {
      accountId,
      goalId,
      dialedAt: new Date('2026-03-05T10:00:00Z'),
      ...given,
    });
  beforeAll(async () => {
    service = await startOperatorService(kind);
    ({ id: accountId } = await service.operator.createAccount('spender'));
    await service.operator.createAccount('idle');
    goalId = await publishGoal(service.database.db, ids, accountId, goalFile());
    await service.database.db.query(setTitle, [goalId, title]);
    // 7 periods and 2 minutes: 0.1036 + 0.04.
    await ended({ lastsMs: 60_001 });
    // Nobody answers: 0.0148.
    await ended({ lastsMs: 20_000, answeredAfterMs: null });
    // One-shot: 0.0296 + 0.04.
    await ended({ lastsMs: 9_000, goalId: null, dialedAt: new Date('2026-03-06T10:00:00Z') });
    // Abroad without a rate: 0.0148 and what nobody knows.
    await ended({ lastsMs: 9_000, phone: british, dialedAt: new Date('2026-03-07T10:00:00Z') });
    await ended({ lastsMs: 9_000, dialedAt: new Date('2026-04-07T10:00:00Z') });
    await sweepUsage(sweepDependencies(service.database.db, ids, { findRate: noRates }));
  });
  afterAll(() => service.close());

  test('by day: each day that had calls, with sums that are exact and say what they lack', async () => {
    const usage = await service.operator.usage('spender', march);
    expect(usage).toMatchObject({
      object: 'usage',
      preview: true,
      charged: false,
      notice: 'Preview of prices; nothing is charged.',
      currency: 'USD',
      account_id: accountId,
      ...march,
      by: 'day',
      next_cursor: null,
    });
    expect(usage.totals).toEqual({
      attempts: 4,
      answered: 3,
      answered_seconds: 78.001,
      model_periods: 10,
      model: '0.1628',
      carrier: '0.0800',
      carrier_unknown: 1,
      success: '0.0000',
      total: '0.2428',
    });
    expect(usage.data.map(({ day, total, carrier_unknown }) => [day, total, carrier_unknown])).toEqual([
      ['2026-03-05', '0.1584', 0],
      ['2026-03-06', '0.0696', 0],
      ['2026-03-07', '0.0148', 1],
    ]);
  });

  test('by Goal: with its title, and the calls without one together', async () => {
    const { data } = await service.operator.usage(accountId, { ...march, by: 'goal' });
    expect(
      data.map(({ goal_id, title: shown, attempts, total }) => [goal_id, shown, attempts, total]),
    ).toEqual([
      [goalId, title, 3, '0.1732'],
      [null, null, 1, '0.0696'],
    ]);
  });

  test('by call: newest first, page by page, with the prices and what is unknown', async () => {
    const seen: UsageByCall['data'][number][] = [];
    let after: string | null = null;
    do {
      const page: UsageByCall = await service.operator.usage('spender', {
        ...march,
        by: 'call',
        limit: 1,
        ...(after !== null && { after }),
      });
      expect(page.data).toHaveLength(1);
      expect(page.totals.attempts).toBe(4);
      seen.push(...page.data);
      after = page.next_cursor;
    } while (after !== null);
    expect(seen.map(({ day }) => day)).toEqual(['2026-03-07', '2026-03-06', '2026-03-05', '2026-03-05']);
    expect(seen[0]).toMatchObject({
      goal_id: goalId,
      call_id: null,
      mode: 'goal',
      country: 'GB',
      domestic: false,
      carrier: null,
      total: null,
      model: '0.0148',
    });
    expect(seen[0]?.goal_run_id).toMatch(/^grun_/);
    expect(seen[1]).toMatchObject({
      goal_id: null,
      goal_run_id: null,
      mode: 'one_shot',
      answered_seconds: 9,
      model_per_period: '0.0296',
      carrier_seconds: 60,
      carrier_per_minute: '0.0400',
      carrier_increments: '60/60',
      total: '0.0696',
    });
    expect(seen.some((call) => call.answered_seconds === null && call.carrier === '0.0000')).toBe(true);
    expect(JSON.stringify(seen)).not.toMatch(/2025550100|2079460000/);
  });

  test('the Run itself says what it would cost', async () => {
    const { data } = await service.operator.usage('spender', { ...march, by: 'call' });
    const call = data.find(({ carrier_seconds }) => carrier_seconds === 120);
    await expect(service.operator.getRun(call?.goal_run_id ?? '')).resolves.toMatchObject({
      cost: { total: '0.1436', carrier_unknown: 0, attempts: 1 },
    });
  });

  test('as CSV: whole, with quotes, without formulas, and what is unknown is no empty cell', async () => {
    const goals = await service.operator.usageCsv('spender', { ...march, by: 'goal' });
    expect(goals.split('\r\n')).toEqual([
      'goal_id,title,attempts,answered,answered_seconds,model_periods,model,carrier,carrier_unknown,success,total,currency,notice',
      `${goalId},"'=HYPERLINK(""http://x"") ""Ünï"", two\nlines",3,2,69.001,9,0.1332,0.0400,1,0.0000,0.1732,USD,Preview of prices; nothing is charged.`,
      ',,1,1,9,1,0.0296,0.0400,0,0.0000,0.0696,USD,Preview of prices; nothing is charged.',
      '',
    ]);
    const calls = (await service.operator.usageCsv('spender', { ...march, by: 'call' })).split('\r\n');
    expect(calls).toHaveLength(6);
    expect(calls[1]).toMatch(/,GB,false,9,1,0\.0148,0\.0148,,,,unknown,0\.0000,unknown,USD,/);
    const days = (await service.operator.usageCsv('spender', march)).split('\r\n');
    expect(days[1]).toBe(
      '2026-03-05,2,1,60.001,8,0.1184,0.0400,0,0.0000,0.1584,USD,Preview of prices; nothing is charged.',
    );
    const response = await send('/accounts/spender/usage?format=csv&from=2026-03-01&to=2026-03-31');
    expect(response.headers.get('content-type')).toBe('text/csv; charset=utf-8; header=present');
    expect(response.headers.get('content-disposition')).toBe(
      'attachment; filename="usage-day-2026-03-01-2026-03-31.csv"',
    );
  });

  test('of all accounts: their totals, also of those without calls', async () => {
    const usage = await service.operator.deploymentUsage(march);
    expect(usage.totals).toMatchObject({ attempts: 4, total: '0.2428' });
    expect(usage.data.map(({ name, total }) => [name, total])).toEqual([
      ['idle', '0.0000'],
      ['spender', '0.2428'],
    ]);
    expect(await service.operator.deploymentUsageCsv(march)).toContain(`\r\n${accountId},spender,4,3,`);
  });

  test('without days the month so far is meant', async () => {
    const { from, to, data } = await service.operator.usage('idle');
    const today = new Date().toISOString().slice(0, 10);
    expect([from, to, data]).toEqual([`${today.slice(0, 7)}-01`, today, []]);
  });

  test('a budget is set and taken away, and says how far the month has come', async () => {
    // It ends now: in this month, also when it was dialled in the last one.
    await ended({ lastsMs: 60_001, dialedAt: new Date(Date.now() - 65_001) });
    await sweepUsage(sweepDependencies(service.database.db, ids));
    await expect(
      service.operator.updateAccount('spender', { monthly_budget: '0.16' }),
    ).resolves.toMatchObject({
      monthly_budget: '0.1600',
    });
    const { budget } = await service.operator.usage('spender');
    const month = new Date().toISOString().slice(0, 7);
    expect(budget).toEqual({
      monthly: '0.1600',
      month,
      used: '0.1436',
      carrier_unknown: 0,
      percent: 89,
      reached: 80,
    });
    await expect(service.operator.updateAccount('spender', { max_active_calls: 5 })).resolves.toMatchObject({
      monthly_budget: '0.1600',
    });
    await expect(service.operator.updateAccount('spender', { monthly_budget: null })).resolves.toMatchObject({
      monthly_budget: null,
    });
  });

  test.each(['0', '0.0000', '-1', '1e3', '1,50', '1.0000001', '9999999999', ' 1', '', 'x'.repeat(30)])(
    'a budget of %j is refused, and the message says what would be right',
    async (monthly_budget) => {
      await expect(service.operator.updateAccount('spender', { monthly_budget })).rejects.toMatchObject({
        status: 400,
        code: 'invalid_request',
        message: expect.stringMatching(/^monthly_budget /),
      });
    },
  );

  const send = (path: string, token = service.token) =>
    fetch(`${service.origin}/operator/v1${path}`, { headers: { authorization: `Bearer ${token}` } });

  test.each([
    ['from=2026-03-32', /^from must be a day/],
    ['from=2026-02-30', /^from must be a day/],
    ['to=yesterday', /^to must be a day/],
    ['to=1026-01-01', /^to must be a day/],
    ['from=2026-03-02&to=2026-03-01', /^from must not be behind to/],
    ['from=2024-01-01&to=2026-01-01', /at most 366 days/],
    ['by=hour', /^by must be one of: day, goal, call/],
    ['format=xml', /^format must be json or csv/],
    ['by=goal&limit=5', /^after and limit go with by=call/],
    ['by=call&format=csv&limit=5', /do not go with format=csv/],
    ['by=call&limit=101', /^limit must be/],
    ['by=call&after=grun_1', /^after must be/],
    ['colour=red', /unknown query parameter/],
  ])('%s is refused', async (query, message) => {
    const response = await send(`/accounts/spender/usage?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 'invalid_request', message: expect.stringMatching(message) },
    });
  });

  test('it is for operators alone, and of accounts that there are', async () => {
    expect((await send('/accounts/spender/usage', 'x'.repeat(40))).status).toBe(401);
    expect((await send('/usage', 'x'.repeat(40))).status).toBe(401);
    expect((await send('/accounts/nobody/usage')).status).toBe(404);
    expect((await send('/usage?by=day')).status).toBe(400);
  });
});
