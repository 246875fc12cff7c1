import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DailyLimits, TrunkSlots } from '../../../src/carriers/sip/slots.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { statement } from '../../../src/storage/database.ts';
import { openPostgres } from '../../../src/storage/postgres.ts';
import { createTrunkSlots } from '../../../src/storage/trunk-slots.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';

const never = new AbortController().signal;
const limits: DailyLimits = { callsPerNumber: 3, callsPerAccount: 5, spendPerAccount: null };
const phone = '+12125550100';

describe.each(databases)('the limits of trunks on %s', (kind) => {
  let test: TestDatabase;
  /** Two workers. */
  let slots: readonly [TrunkSlots, TrunkSlots];
  beforeAll(async () => {
    test = await freshDatabase(kind);
    const other = test.url === undefined ? test.db : openPostgres({ url: test.url });
    slots = [createTrunkSlots(test.db, systemClock), createTrunkSlots(other, systemClock)];
  });
  afterAll(() => test.close());

  async function trunk(name: string, maxCalls: number, callsPerSecond = 1_000) {
    const made = { trunk: name, maxCalls, callsPerSecond };
    await Promise.all(slots.map((each) => each.prepare([made])));
    return made;
  }
  const take = (made: Awaited<ReturnType<typeof trunk>>, attempt: number) =>
    slots[attempt % 2 === 0 ? 0 : 1].take(made, `${made.trunk}-${attempt}`, never);
  const taken = async (results: Promise<{ kind: string }>[]) =>
    (await Promise.all(results)).filter((result) => result.kind === 'taken').length;

  it('both workers together never hold more lines than the trunk has', async () => {
    const made = await trunk('lines', 7);
    const attempts = Array.from({ length: 40 }, (_, attempt) => take(made, attempt));
    expect(await taken(attempts)).toBe(7);
    expect(await take(made, 100)).toMatchObject({ kind: 'later' });
  });

  it('a line that is given back is taken again, once', async () => {
    const made = await trunk('back', 1);
    expect(await take(made, 1)).toMatchObject({ kind: 'taken' });
    expect(await take(made, 2)).toMatchObject({ kind: 'later' });
    await slots[1].release('back-1');
    await slots[1].release('back-1');
    expect(await taken([take(made, 3), take(made, 4)])).toBe(1);
  });

  it('a line that is not renewed comes back by itself; the one who lost it can not take it back', async () => {
    const made = await trunk('crash', 1);
    await take(made, 1);
    await slots[1].renew(['crash-1']);
    const expire = statement<never>(
      'test_expire_lines',
      `update trunk_lines set held_until = held_until - interval '1 minute' where trunk = 'crash'`,
    );
    await test.db.query(expire);
    expect(await take(made, 2)).toMatchObject({ kind: 'taken' });
    await slots[1].renew(['crash-1']);
    await slots[1].release('crash-1');
    expect(await take(made, 3)).toMatchObject({ kind: 'later' });
  });

  it('a trunk whose number of lines was lowered gives no more than the new one', async () => {
    const made = await trunk('fewer', 5);
    const fewer = { ...made, maxCalls: 2 };
    expect(await taken([1, 2, 3, 4, 5].map((attempt) => take(fewer, attempt)))).toBe(2);
  });

  it('calls begin no faster than the trunk allows, over both workers', async () => {
    const made = await trunk('pace', 100, 20);
    const begun: number[] = [];
    const results = Array.from({ length: 12 }, async (_, attempt) => {
      const result = await take(made, attempt);
      begun.push(performance.now());
      return result;
    });
    expect(await taken(results)).toBe(12);
    // Twelve calls at 20 a second: the last leaves 550 ms behind the first.
    expect(Math.max(...begun) - Math.min(...begun)).toBeGreaterThan(500);
  });

  it('who would have to wait long for a turn is sent away, and holds no line', async () => {
    const made = await trunk('slow', 100, 1);
    const results = Promise.all(Array.from({ length: 10 }, (_, attempt) => take(made, attempt)));
    const kinds = (await results).map((result) => result.kind);
    expect(kinds.filter((result) => result === 'taken').length).toBeLessThanOrEqual(3);
    expect(kinds).toContain('later');
    const held = statement<{ readonly lines: number }>(
      'test_held_lines',
      `select count(*)::int as lines from trunk_lines where trunk = 'slow' and held_until > now()`,
    );
    const [row] = await test.db.query(held);
    expect(row?.lines).toBe(kinds.filter((result) => result === 'taken').length);
  });

  it('a turn that is not waited for gives the line back', async () => {
    const made = await trunk('given-up', 100, 1);
    await take(made, 1);
    const result = await slots[0].take(made, 'given-up-2', AbortSignal.abort());
    expect(result).toEqual({ kind: 'later', inMs: 0 });
  });

  it('a number is called so often in a day and no more, whoever asks', async () => {
    const counted = await Promise.all(
      Array.from({ length: 8 }, (_, at) => slots[at % 2 === 0 ? 0 : 1].countCall(`acc_${at}`, phone, limits)),
    );
    expect(counted.filter(Boolean)).toHaveLength(3);
  });

  it('an account calls so often in a day and no more; what is refused counts for nobody', async () => {
    const numbers = Array.from({ length: 9 }, (_, at) => `+1415555010${at}`);
    const counted = await Promise.all(
      numbers.map((number, at) => slots[at % 2 === 0 ? 0 : 1].countCall('acc_busy', number, limits)),
    );
    expect(counted.filter(Boolean)).toHaveLength(5);
    const refused = numbers[counted.indexOf(false)] ?? '';
    for (let call = 0; call < 3; call += 1)
      expect(await slots[0].countCall(`acc_other_${call}`, refused, limits)).toBe(true);
  });

  it('a call that the number’s limit refuses does not count for the account', async () => {
    const popular = '+14155550160';
    for (let call = 0; call < 3; call += 1) await slots[0].countCall(`acc_fan_${call}`, popular, limits);
    for (let call = 0; call < 6; call += 1)
      expect(await slots[1].countCall('acc_patient', popular, limits)).toBe(false);
    expect(await slots[0].countCall('acc_patient', '+14155550161', limits)).toBe(true);
  });

  it('an account that has spent its money calls no more', async () => {
    const capped = { ...limits, spendPerAccount: 1_000_000n };
    await slots[0].addCost('acc_rich', 600_000n);
    expect(await slots[1].countCall('acc_rich', '+14155550150', capped)).toBe(true);
    await slots[1].addCost('acc_rich', 400_000n);
    expect(await slots[0].countCall('acc_rich', '+14155550150', capped)).toBe(false);
    expect(await slots[0].countCall('acc_rich', '+14155550150', limits)).toBe(true);
  });
});
