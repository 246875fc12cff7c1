import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAcceptance } from '../../../src/acceptance/accept.ts';
import type { RunRequest } from '../../../src/acceptance/acceptance.ts';
import { systemClock, type Clock } from '../../../src/platform/clock.ts';
import { systemIds } from '../../../src/platform/ids.ts';
import { DatabaseUnavailable, statement, type Database } from '../../../src/storage/database.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { createAccount, goalFile, publishGoal } from '../../kit/fixtures.ts';

const ids = systemIds(systemClock);
const setState = statement<never>('test_set_state', 'update goals set state = $2 where id = $1');
const unpublish = statement<never>(
  'test_unpublish',
  'update goals set published_run_spec_id = null where id = $1',
);
const hide = statement<never>('test_hide', 'update goals set listed = false where id = $1');
const neverCall = statement<never>(
  'test_never_call',
  'insert into do_not_call (account_id, phone) values ($1, $2)',
);
const countRuns = statement<{ runs: number; jobs: number; keys: number }>(
  'test_count_runs',
  `select (select count(*) from runs where goal_id = $1) as runs,
          (select count(*) from jobs j join runs r on r.id = j.subject_id where r.goal_id = $1) as jobs,
          (select count(*) from idempotency_keys where scope = $1) as keys`,
);
const storedRun = statement<{ variables: unknown; status: string; version: number; due_in_ms: number }>(
  'test_stored_run',
  `select r.variables, r.status, r.run_spec_version as version,
          extract(epoch from j.due_at - now())::float8 * 1000 as due_in_ms
   from runs r join jobs j on j.subject_id = r.id where r.public_id = $1`,
);

describe.each(databases)('acceptance on %s', (kind) => {
  let test: TestDatabase;
  let db: Database;
  let accountId: string;

  beforeAll(async () => {
    test = await freshDatabase(kind);
    db = test.db;
    accountId = await createAccount(db, ids);
  });
  afterAll(() => test.close());

  const acceptance = (over: { db?: Database; clock?: Clock; problems?: readonly string[] } = {}) =>
    createAcceptance({
      db: over.db ?? db,
      clock: over.clock ?? systemClock,
      ids,
      readiness: () => over.problems ?? [],
      forbids: () => null,
      onAccepted: () => undefined,
    });

  const request = (goalId: string, idempotencyKey: string, over: Partial<RunRequest> = {}): RunRequest => ({
    accountId,
    regions: null,
    goalId,
    idempotencyKey,
    phone: '+12025550100',
    variables: { ok: true, values: { name: 'Ada' } },
    ...over,
  });

  const counts = async (goalId: string) => (await db.query(countRuns, [goalId]))[0];

  it('accepts once and replays the Run as it stands (I2)', async () => {
    const goalId = await publishGoal(db, ids, accountId, goalFile());
    const { accept } = acceptance();
    const first = await accept(request(goalId, 'k'));
    const again = await accept(request(goalId, 'k'));
    expect(first.replayed).toBe(false);
    expect(again).toMatchObject({ replayed: true, run: first.run });
    expect(await counts(goalId)).toEqual({ runs: 1, jobs: 1, keys: 1 });
  });

  it('makes one Run of a hundred equal requests at the same time, also from several processes (I2)', async () => {
    const goalId = await publishGoal(db, ids, accountId, goalFile());
    const processes = [acceptance(), acceptance(), acceptance(), acceptance()];
    const all = await Promise.all(
      processes.flatMap(({ accept }) => Array.from({ length: 25 }, () => accept(request(goalId, 'same')))),
    );
    expect(new Set(all.map((one) => one.run.public_id)).size).toBe(1);
    expect(all.filter((one) => !one.replayed)).toHaveLength(1);
    expect(await counts(goalId)).toEqual({ runs: 1, jobs: 1, keys: 1 });
  });

  it('refuses a key that was used for another request, and compares what was sent by value', async () => {
    const goalId = await publishGoal(db, ids, accountId, goalFile());
    const { accept } = acceptance();
    const values = { name: 'Ada', parcels: 2 };
    const { run } = await accept(request(goalId, 'k', { variables: { ok: true, values } }));
    const reordered = { parcels: 2.0, name: 'Ada' };
    const same = await accept(request(goalId, 'k', { variables: { ok: true, values: reordered } }));
    expect(same.run.id).toBe(run.id);
    for (const other of [
      { phone: '+12025550101' },
      { variables: { ok: true, values: { name: 'Ada' } } },
      { variables: { ok: true, values: { ...values, parcels: '2' } } },
      { variables: { ok: false, problem: 'duplicate key' } },
      { phone: 'not a phone' },
    ] satisfies Partial<RunRequest>[]) {
      await expect(accept(request(goalId, 'k', other))).rejects.toMatchObject({
        code: 'idempotency_conflict',
      });
    }
  });

  it('compares before defaults are filled in, and stores what was filled in', async () => {
    const goalId = await publishGoal(db, ids, accountId, goalFile());
    const { accept } = acceptance();
    const { run } = await accept(request(goalId, 'k'));
    const [stored] = await db.query(storedRun, [run.public_id]);
    expect(stored?.variables).toEqual({ name: 'Ada', parcels: 1 });
    const explicit = { variables: { ok: true, values: { name: 'Ada', parcels: 1 } } } as const;
    await expect(accept(request(goalId, 'k', explicit))).rejects.toMatchObject({
      code: 'idempotency_conflict',
    });
  });

  it('checks in order: Goal, key, region, phone, state, readiness, variables', async () => {
    const goalId = await publishGoal(db, ids, accountId, goalFile());
    const wrong = {
      regions: ['DE'],
      phone: '+49',
      variables: { ok: true, values: { name: 7 } },
    } satisfies Partial<RunRequest>;
    const code = (over: Partial<RunRequest>, problems: readonly string[] = []) =>
      acceptance({ problems })
        .accept(request(goalId, 'order', over))
        .then(
          () => 'accepted',
          (error: { code: string }) => error.code,
        );
    expect(await code({ ...wrong, accountId: 'acct_other' })).toBe('not_found');
    expect(await code(wrong)).toBe('forbidden');
    await db.query(setState, [goalId, 'paused']);
    expect(await code({ ...wrong, regions: null })).toBe('invalid_phone');
    expect(await code({ ...wrong, regions: null, phone: '+442071838750' })).toBe('invalid_phone');
    const unwell = { ...wrong, regions: null, phone: '+12025550100' };
    expect(await code(unwell)).toBe('goal_not_executable');
    await db.query(setState, [goalId, 'active']);
    expect(await code(unwell, ['no agent'])).toBe('goal_not_ready');
    expect(await code(unwell)).toBe('variables_invalid');
    expect(await code({ ...unwell, variables: { ok: false, problem: 'no' } })).toBe('variables_invalid');
    await db.query(unpublish, [goalId]);
    expect(await code(unwell)).toBe('goal_not_published');
    await db.query(hide, [goalId]);
    expect(await code({})).toBe('not_found');
    expect(await counts(goalId)).toEqual({ runs: 0, jobs: 0, keys: 0 });
  });

  it('does not burn the key of a refused request', async () => {
    const goalId = await publishGoal(db, ids, accountId, goalFile());
    const { accept } = acceptance();
    await expect(accept(request(goalId, 'k', { phone: '+1202' }))).rejects.toMatchObject({
      code: 'invalid_phone',
    });
    expect((await accept(request(goalId, 'k'))).replayed).toBe(false);
  });

  it('replays after a republish, a pause, an unpublish, a hiding and a wish not to be called', async () => {
    const goalId = await publishGoal(db, ids, accountId, goalFile());
    const { accept } = acceptance();
    const phone = '+12025550122';
    const { run } = await accept(request(goalId, 'k', { phone }));
    await publishGoal(db, ids, accountId, goalFile({ targets: { countries: ['GB'] } }), goalId);
    await db.query(neverCall, [accountId, phone]);
    await db.query(setState, [goalId, 'paused']);
    await db.query(unpublish, [goalId]);
    await db.query(hide, [goalId]);
    for (const { accept: other } of [{ accept }, acceptance()]) {
      const again = await other(request(goalId, 'k', { phone }));
      expect(again).toMatchObject({ replayed: true, run: { id: run.id, run_spec_version: 1 } });
    }
  });

  it('never accepts a number that asked not to be called, also where the Goal is remembered', async () => {
    const goalId = await publishGoal(db, ids, accountId, goalFile());
    const { accept } = acceptance();
    await accept(request(goalId, 'before', { phone: '+12025550123' }));
    await db.query(neverCall, [accountId, '+12025550123']);
    await expect(accept(request(goalId, 'after', { phone: '+12025550123' }))).rejects.toMatchObject({
      code: 'invalid_phone',
    });
  });

  it('pins each of 200 requests that race with two publications to one version and validates with it (I3)', async () => {
    const goalId = await publishGoal(db, ids, accountId, goalFile());
    const { accept } = acceptance();
    const strict = goalFile().input_schema;
    // Version 2 fills in another default; version 3 another again: the stored value tells which one validated.
    const version = (value: number) =>
      goalFile({
        input_schema: {
          ...strict,
          properties: { ...strict.properties, parcels: { type: 'integer', default: value } },
        },
      });
    const publishing = (async () => {
      await publishGoal(db, ids, accountId, version(2), goalId);
      await publishGoal(db, ids, accountId, version(3), goalId);
    })();
    const runs = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        for (let turn = 0; turn < index % 20; turn += 1) await new Promise(setImmediate);
        return accept(request(goalId, `race ${index}`));
      }),
    );
    await publishing;
    runs.push(await accept(request(goalId, 'afterwards')));
    const seen = new Set<number>();
    for (const { run } of runs) {
      const [stored] = await db.query(storedRun, [run.public_id]);
      expect(stored?.variables).toEqual({ name: 'Ada', parcels: stored?.version });
      expect(run.run_spec_version).toBe(stored?.version);
      seen.add(run.run_spec_version);
    }
    expect(runs.at(-1)?.run.run_spec_version).toBe(3);
    expect([...seen].every((one) => one >= 1 && one <= 3)).toBe(true);
  });

  it('waits as queued outside the calling window, until it opens', async () => {
    const window = { timezone: 'America/New_York', days: ['mon' as const], from: '09:00', to: '17:00' };
    const goalId = await publishGoal(db, ids, accountId, goalFile({ calling_window: window }));
    // A Saturday; the window opens on Monday at 14:00 UTC.
    const saturday = Date.parse('2027-01-09T12:00:00Z');
    const clock: Clock = { ...systemClock, now: () => saturday };
    const { run } = await acceptance({ clock }).accept(request(goalId, 'weekend'));
    expect(run.status).toBe('queued');
    const [stored] = await db.query(storedRun, [run.public_id]);
    const opens = Date.now() + (stored?.due_in_ms ?? 0);
    expect(Math.abs(opens - Date.parse('2027-01-11T14:00:00Z'))).toBeLessThan(60_000);
  });

  it('finds the Run of a commit whose answer was lost, and does not call it a replay (I1)', async () => {
    const goalId = await publishGoal(db, ids, accountId, goalFile());
    let losses = 0;
    const losing: Database = {
      ...db,
      query: async (statement, values) => {
        const rows = await db.query(statement, values);
        if (statement.name !== 'accept_runs' || losses > 0) return rows;
        losses += 1;
        throw new DatabaseUnavailable('the answer was lost');
      },
    };
    const accepted = await acceptance({ db: losing }).accept(request(goalId, 'lost'));
    expect(losses).toBe(1);
    expect(accepted.replayed).toBe(false);
    expect(await counts(goalId)).toEqual({ runs: 1, jobs: 1, keys: 1 });
    expect((await acceptance().accept(request(goalId, 'lost'))).run.id).toBe(accepted.run.id);
  });

  it('lets a poisonous request fail alone in its batch', async () => {
    const goalId = await publishGoal(db, ids, accountId, goalFile());
    const { accept } = acceptance();
    await accept(request(goalId, 'warm'));
    // NUL can not be stored; the HTTP layer refuses it, here it stands for any row that the database refuses.
    const poison = accept(request(goalId, 'poison\u0000'));
    const others = Array.from({ length: 5 }, (_, index) => accept(request(goalId, `other ${index}`)));
    await expect(poison).rejects.toThrow();
    expect(await Promise.all(others)).toHaveLength(5);
  });
});
