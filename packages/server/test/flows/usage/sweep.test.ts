import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CarrierRate } from '../../../src/billing/prices.ts';
import { startUsageSweep, sweepUsage } from '../../../src/billing/sweep.ts';
import { formatAmount } from '../../../src/platform/money.ts';
import { statement, type Database } from '../../../src/storage/database.ts';
import {
  findUsageMonth,
  listUsage,
  listUsageOfRun,
  lockUsageMark,
  recordUsage,
  sumUsage,
} from '../../../src/storage/usage.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { insertEnded, sweepDependencies, type EndedAttempt } from '../../kit/ended-attempts.ts';
import { createAccount } from '../../kit/fixtures.ts';
import { createHarness, ids, type Harness } from '../execution/harness.ts';

const aDay = '2026-03-05';
const british = '+442079460000';
const rowsOf = statement<Readonly<Record<string, unknown>>>(
  'test_usage_rows',
  'select u.*, to_char(day, $2) as day from usage u where account_id = $1 order by attempt_id',
);
const endAttempt = statement<never>(
  'test_end_attempt',
  `update attempts set state = 'ended', outcome = 'conversation', ended_at = $2 where id = $1`,
);
const setBudget = statement<never>(
  'test_set_budget',
  'update accounts set monthly_budget = $2::bigint where id = $1',
);
const resetMark = statement<never>('test_reset_mark', `update usage_mark set attempt_id = 'att_'`);
const readAudit = statement<{ person_id: string | null; object_id: string; details: unknown }>(
  'test_read_audit',
  `select person_id, object_id, details from audit_log where account_id = $1 and action = 'budget.reached'
   order by created_at, (details ->> 'percent')::int`,
);
const insertMany = statement<never>(
  'test_many_attempts',
  `with made as (
     select 'run_' || $1 || lpad(i::text, 6, '0') as run, 'att_0' || $1 || lpad(i::text, 6, '0') as attempt
     from generate_series(1, $3) i
   ), runs as (
     insert into runs (id, public_id, account_id, goal_id, run_spec_id, run_spec_version, phone, variables, status)
     select run, 'g' || run, $2, 'goal_x', 'rspec_x', 1, '+12025550100', '{}', 'in_progress' from made
   )
   insert into attempts (id, run_id, number, carrier, state, outcome, answered_at, ended_at)
   select attempt, run, 1, 'test', 'ended', 'conversation', '2026-03-05T10:00:00Z', '2026-03-05T10:01:01Z' from made`,
);

describe.each(databases)('usage on %s', (kind) => {
  let test: TestDatabase;
  let db: Database;
  let accountId: string;
  const open: Harness[] = [];
  beforeAll(async () => {
    test = await freshDatabase(kind);
    db = test.db;
  });
  afterEach(async () => {
    for (const harness of open.splice(0)) await harness.stop();
  });
  afterAll(() => test.close());

  const sweep = (over: Parameters<typeof sweepDependencies>[2] = {}) =>
    sweepUsage(sweepDependencies(db, ids, over));
  const rows = () => db.query(rowsOf, [accountId, 'YYYY-MM-DD']);
  /** In a time that no sweep has passed yet. */
  const ended = async (given: Partial<EndedAttempt> & { readonly lastsMs: number | null }) => {
    await db.query(resetMark);
    const dialedAt = new Date('2026-03-05T10:00:00Z');
    return insertEnded(db, ids, { accountId, goalId: 'goal_x', dialedAt, ...given });
  };
  const sums = async () => (await db.query(sumUsage, [accountId, '2000-01-01', '9999-12-31']))[0];
  const month = async (first: string) => (await db.query(findUsageMonth, [accountId, first]))[0];

  it('has a row for each attempt that left, whatever became of it, and none where nothing left', async () => {
    accountId = await createAccount(db, ids);
    const harness = await createHarness({ db, accountId });
    open.push(harness);
    const goalId = await harness.publish();
    for (const digits of ['00', '01', '02', '08']) {
      const run = await harness.until(await harness.run(goalId, `+120255501${digits}`));
      await sweep();
      const counted = await db.query(listUsageOfRun, [run.id]);
      expect(counted).toMatchObject([
        { attempt_id: run.attempt_id, goal_id: goalId, mode: 'goal', country: 'US', domestic: true },
      ]);
      expect(counted[0]?.answered_ms === null).toBe(digits !== '00');
      expect(counted[0]?.carrier_amount === '0').toBe(digits !== '00');
    }
    // A simulated call has a clock of its own: by ours it took no time.
    const [answered, ...others] = await rows();
    expect(answered?.['model_periods']).toBe(Math.ceil(Number(answered?.['answered_ms']) / 10_000));
    expect(Number(answered?.['answered_ms'])).toBeGreaterThan(2_000);
    expect(others.map((row) => [row['model_periods'], row['carrier_amount']])).toEqual([
      [1, 0],
      [1, 0],
      [1, 0],
    ]);
    expect(JSON.stringify(await rows())).not.toContain('2025550');

    const forbidding = await createHarness({ db, accountId, limits: { forbids: () => 'not to be called' } });
    await harness.stop();
    open.splice(0, 1, forbidding);
    const refused = await forbidding.until(await forbidding.run(goalId, '+12025550100'));
    expect(refused).toMatchObject({ error_detail_code: 'not_allowed', attempt_id: null });
    await sweep();
    expect(await rows()).toHaveLength(4);
  });

  it('is exact to the last decimal, by mode, answer and country', async () => {
    accountId = await createAccount(db, ids);
    await ended({ lastsMs: 59_900 });
    await ended({ lastsMs: 60_001 });
    await ended({ lastsMs: 10_000, goalId: null });
    await ended({ lastsMs: 0, answeredAfterMs: null, phone: british });
    await ended({ lastsMs: 30_000, phone: british });
    await sweep();
    const counted = (await rows()).map((row) => [
      row['mode'],
      row['country'],
      row['answered_ms'],
      Number(row['model_amount']),
      row['carrier_amount'],
      row['carrier_increments'],
    ]);
    expect(counted).toEqual(
      expect.arrayContaining([
        ['goal', 'US', 59_900, 6 * 14_800, 20_000, '60/60'],
        ['goal', 'US', 60_001, 7 * 14_800, 40_000, '60/60'],
        ['one_shot', 'US', 10_000, 29_600, 40_000, '60/60'],
        ['goal', 'GB', null, 14_800, 0, null],
        ['goal', 'GB', 30_000, 3 * 14_800, null, null],
      ]),
    );
    const total = await sums();
    expect(total).toMatchObject({ attempts: 5, answered: 4, model_periods: 18, carrier_unknown: 1 });
    expect(formatAmount(BigInt(total?.model_amount ?? 0))).toBe('0.2812');
    expect(formatAmount(BigInt(total?.carrier_amount ?? 0))).toBe('0.1000');
    expect(await month('2026-03-01')).toEqual({ amount: '381200', unknown: 1 });
  });

  it('belongs to the day and the month (UTC) in which the attempt ended', async () => {
    accountId = await createAccount(db, ids);
    await ended({ dialedAt: new Date('2026-03-31T23:59:00Z'), lastsMs: 50_000 });
    await ended({ dialedAt: new Date('2026-03-31T23:59:00Z'), lastsMs: 60_000 });
    await sweep();
    expect((await rows()).map(({ day }) => String(day)).toSorted()).toEqual(['2026-03-31', '2026-04-01']);
    expect([(await month('2026-03-01'))?.amount, (await month('2026-04-01'))?.amount]).toEqual([
      '94000',
      '108800',
    ]);
  });

  it('keeps the prices of its time: other rates change later rows alone', async () => {
    accountId = await createAccount(db, ids);
    const rate = (perMinute: bigint): CarrierRate => ({ perMinute, first: 30, next: 6 });
    await ended({ lastsMs: 31_000, phone: british });
    await sweep({ findRate: () => rate(100_000n) });
    const [before] = await rows();
    expect(before).toMatchObject({
      carrier_amount: 60_000,
      carrier_per_minute: 100_000,
      carrier_increments: '30/6',
    });
    await ended({ lastsMs: 31_000, phone: british });
    await sweep({ findRate: () => rate(300_000n) });
    const after = await rows();
    expect(after).toHaveLength(2);
    expect(after).toContainEqual(before);
    const amounts = after.map((row) => Number(row['carrier_amount']));
    expect(amounts.toSorted((a, b) => a - b)).toEqual([60_000, 180_000]);
  });

  it('that is swept again and again, and by several at once, counts everything once', async () => {
    accountId = await createAccount(db, ids);
    await db.query(resetMark);
    await db.query(insertMany, ['many', accountId, 1_234]);
    await Promise.all([sweep(), sweep(), sweep()]);
    await sweep();
    expect(await sums()).toMatchObject({ attempts: 1_234, carrier_amount: String(1_234 * 40_000) });
    expect(await month('2026-03-01')).toEqual({ amount: String(1_234 * (7 * 14_800 + 40_000)), unknown: 0 });
  });

  it.each([0, 1, 2])('of a sweep that is killed in page %i is neither lost nor doubled', async (page) => {
    accountId = await createAccount(db, ids);
    await db.query(insertMany, [`kill${page}`, accountId, 1_234]);
    let pages = 0;
    const dying: Database = {
      ...db,
      transaction: (work) =>
        db.transaction(async (tx) => {
          const done = await work(tx);
          if (pages === page) throw new Error('killed');
          pages += 1;
          return done;
        }),
    };
    await db.query(resetMark);
    await expect(sweepUsage(sweepDependencies(dying, ids))).rejects.toThrow('killed');
    const written = (await sums())?.attempts ?? 0;
    expect(written).toBeLessThan(1_234);
    await sweep();
    expect(await sums()).toMatchObject({ attempts: 1_234 });
    expect(await month('2026-03-01')).toEqual({ amount: String(1_234 * (7 * 14_800 + 40_000)), unknown: 0 });
  });

  const secondsAgo = (seconds: number) => new Date(Date.now() - seconds * 1_000);

  it('counts a call that goes on when it has ended, however long it was', async () => {
    accountId = await createAccount(db, ids);
    const going = await ended({ dialedAt: secondsAgo(20_000), lastsMs: null });
    await ended({ dialedAt: secondsAgo(10_000), lastsMs: 1_000 });
    await sweep();
    expect(await rows()).toHaveLength(1);
    await db.query(endAttempt, [going, secondsAgo(10)]);
    await sweep();
    expect(await rows()).toHaveLength(2);
  });

  it('counts a call that goes on also when pages of others behind it were counted meanwhile', async () => {
    accountId = await createAccount(db, ids);
    const going = await ended({ dialedAt: secondsAgo(20_000), lastsMs: null });
    // Of the same millisecond, and behind it.
    await db.query(insertMany, [`${going.slice(5, 14)}z`, accountId, 600]);
    await sweep();
    expect((await sums())?.attempts).toBe(600);
    await db.query(endAttempt, [going, secondsAgo(10)]);
    await sweep();
    expect((await sums())?.attempts).toBe(601);
  });

  it('adds a row once, and its amount to the month once, whoever writes it again', async () => {
    accountId = await createAccount(db, ids);
    await ended({ lastsMs: 60_000 });
    await sweep();
    const { public_id: _, ...row } = (await db.query(listUsage, [accountId, aDay, aDay, null, 1]))[0] ?? {};
    await db.query(recordUsage, [JSON.stringify([row])]);
    expect(await rows()).toHaveLength(1);
    expect(await month('2026-03-01')).toEqual({ amount: '108800', unknown: 0 });
  });

  it('counts an attempt whose id is older than what was counted before', async () => {
    accountId = await createAccount(db, ids);
    await ended({ dialedAt: secondsAgo(2_000), lastsMs: 1_000 });
    await sweep();
    await insertEnded(db, ids, { accountId, goalId: 'goal_x', dialedAt: secondsAgo(2_500), lastsMs: 1_000 });
    await sweep();
    expect(await rows()).toHaveLength(2);
  });

  it('does not walk again over what has long been counted', async () => {
    accountId = await createAccount(db, ids);
    const hour = 3_600_000;
    const old = await ended({ dialedAt: new Date(Date.now() - 3 * hour), lastsMs: 1_000 });
    const going = await ended({ dialedAt: new Date(Date.now() - 2 * hour), lastsMs: null });
    const mark = async () => (await db.query(lockUsageMark))[0]?.attempt_id ?? '';
    const later = await ended({ dialedAt: new Date(Date.now() - 1.5 * hour), lastsMs: 1_000 });
    const young = await ended({ dialedAt: new Date(), lastsMs: 1_000 });
    await sweep();
    expect((await mark()) >= old && (await mark()) < going).toBe(true);
    await db.query(endAttempt, [going, new Date()]);
    await sweep();
    expect(await mark()).toBe(later);
    await sweep({ now: () => Date.now() + 2 * hour });
    expect((await mark()) >= young).toBe(true);
    expect(await rows()).toHaveLength(4);
  });

  it('goes on by itself until it is stopped', async () => {
    accountId = await createAccount(db, ids);
    await ended({ dialedAt: new Date(), lastsMs: 1_000 });
    const running = startUsageSweep({ ...sweepDependencies(db, ids), everyMs: 5 });
    await expect.poll(async () => (await rows()).length).toBe(1);
    await running.stop();
    await ended({ dialedAt: new Date(), lastsMs: 1_000 });
    expect(await rows()).toHaveLength(1);
  });

  it('tells of a budget once for each threshold and month, also when several sweep', async () => {
    accountId = await createAccount(db, ids);
    const inMarch = { now: () => Date.parse('2026-03-20T00:00:00Z') };
    const told = async () => (await db.query(readAudit, [accountId])).map(({ details }) => details);
    // 108,800 each.
    const minute = { lastsMs: 60_000 };
    await db.query(setBudget, [accountId, '272000']);
    await ended(minute);
    await sweep(inMarch);
    expect(await told()).toEqual([]);
    await ended(minute);
    await Promise.all([sweep(inMarch), sweep(inMarch)]);
    expect(await told()).toEqual([{ percent: 80, month: '2026-03' }]);
    await ended(minute);
    await sweep(inMarch);
    await sweep(inMarch);
    expect(await told()).toEqual([
      { percent: 80, month: '2026-03' },
      { percent: 100, month: '2026-03' },
    ]);
    // The next month begins anew, and a jump over both thresholds tells of both.
    for (let i = 0; i < 3; i += 1) await ended({ ...minute, dialedAt: new Date('2026-04-02T00:00:00Z') });
    await sweep({ now: () => Date.parse('2026-04-03T00:00:00Z') });
    expect((await told()).slice(2)).toEqual([
      { percent: 80, month: '2026-04' },
      { percent: 100, month: '2026-04' },
    ]);
    const [entry] = await db.query(readAudit, [accountId]);
    expect(entry).toMatchObject({ person_id: null, object_id: accountId });
  });

  it('tells of a budget that is set when it is used up already', async () => {
    accountId = await createAccount(db, ids);
    const inMarch = { now: () => Date.parse('2026-03-20T00:00:00Z') };
    await ended({ lastsMs: 60_000 });
    await sweep(inMarch);
    await db.query(setBudget, [accountId, '108800']);
    await sweep(inMarch);
    expect(await db.query(readAudit, [accountId])).toHaveLength(2);
  });
});
