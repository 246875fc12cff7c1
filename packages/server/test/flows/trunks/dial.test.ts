import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Carrier, Reservation } from '../../../src/carriers/carrier.ts';
import { statement } from '../../../src/storage/database.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { until } from '../../kit/until.ts';
import { createHarness, expectIdle, type Harness } from '../execution/harness.ts';

const attemptsOf = statement<{ readonly id: string }>(
  'test_attempts_of',
  'select id from attempts where run_id = $1',
);
const phone = '+12125550100';

describe.each(databases)('before a run is dialled on %s', (kind) => {
  let test: TestDatabase;
  let harness: Harness;
  beforeAll(async () => {
    test = await freshDatabase(kind);
  });
  afterAll(() => test.close());
  afterEach(() => harness.stop());

  async function run(limits: Partial<Pick<Carrier, 'forbids' | 'reserve'>>) {
    harness = await createHarness({ db: test.db, limits });
    return harness.run(await harness.publish(), phone);
  }

  it('a number that no trunk may call ends it as not allowed; there is no attempt', async () => {
    const accepted = await run({ forbids: () => 'phone is a satellite number' });
    const ended = await harness.until(accepted);
    expect(ended).toMatchObject({
      status: 'failed',
      error_code: 'call_failed',
      error_detail_code: 'not_allowed',
    });
    expect(await test.db.query(attemptsOf, [accepted.id])).toEqual([]);
    expect(harness.dialled).toEqual([]);
    await expectIdle(test.db);
  });

  it('a limit of the day ends it as such; there is no attempt', async () => {
    const accepted = await run({ reserve: async () => ({ kind: 'refused', why: 'daily_limit' }) });
    expect(await harness.until(accepted)).toMatchObject({
      status: 'failed',
      error_code: 'call_failed',
      error_detail_code: 'daily_limit',
    });
    expect(await test.db.query(attemptsOf, [accepted.id])).toEqual([]);
    await expectIdle(test.db);
  });

  it('a trunk without room makes it wait, and burns no attempt', async () => {
    const asked: string[] = [];
    const accepted = await run({
      async reserve({ attemptId, to }): Promise<Reservation> {
        asked.push(attemptId);
        expect(to).toBe(phone);
        return asked.length < 4
          ? { kind: 'later', inMs: 10 }
          : { kind: 'ready', release: async () => undefined };
      },
    });
    expect(await harness.until(accepted)).toMatchObject({ status: 'completed' });
    expect(new Set(asked).size).toBe(4);
    // What was reserved is what was dialled.
    expect(harness.dialled.map(({ attemptId }) => attemptId)).toEqual([asked[3]]);
    expect(await test.db.query(attemptsOf, [accepted.id])).toEqual([{ id: asked[3] }]);
    await expectIdle(test.db);
  });

  it('room that was reserved comes back when the run was stopped meanwhile', async () => {
    let released = 0;
    const stop = statement<never>(
      'test_stop_run',
      'update runs set cancel_requested_at = now() where phone = $1',
    );
    const accepted = await run({
      async reserve() {
        await test.db.query(stop, [phone]);
        return {
          kind: 'ready',
          async release() {
            released += 1;
          },
        };
      },
    });
    expect(await harness.until(accepted)).toMatchObject({ status: 'canceled' });
    await until(() => released === 1, 'the release');
    expect(harness.dialled).toEqual([]);
  });
});
