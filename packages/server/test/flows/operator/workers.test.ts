/** The processes of a deployment as operators see them: who is there, who drains. On the service as it is started. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorClient, Trunkcall } from '@trunkcall/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { readCredentials } from '../../../src/credentials.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { systemIds } from '../../../src/platform/ids.ts';
import { createLog } from '../../../src/platform/log.ts';
import { startService, type Service } from '../../../src/service.ts';
import { statement } from '../../../src/storage/database.ts';
import { beat, forgetDeadWorkers, listWorkers } from '../../../src/storage/workers.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';

const ids = systemIds(systemClock);
/** Keeps talking until the call limit. */
const endless = '+12025550113';

describe.each(databases)('the processes of a deployment on %s', (kind) => {
  let directory: string;
  let database: TestDatabase | undefined;
  const services: Service[] = [];
  let operator: OperatorClient;
  let developer: Trunkcall;
  let goal: string;

  async function start(): Promise<Service> {
    const config = readConfig({
      TRUNKCALL_DATA_DIR: directory,
      TRUNKCALL_PORT: '0',
      TRUNKCALL_POLL_MS: '20',
      // Slow enough to be looked at while a call is live.
      TRUNKCALL_SIMULATION_SPEED: '8',
      ...(database?.url !== undefined && { TRUNKCALL_DATABASE_URL: database.url }),
    });
    const service = await startService(config, {
      log: createLog('silent'),
      onFatal: (error) => {
        throw error;
      },
    });
    services.push(service);
    return service;
  }

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'trunkcall-workers-'));
    if (kind === 'postgres') database = await freshDatabase('postgres');
    const { url } = await start();
    const credentials = readCredentials(directory);
    const baseUrl = url ?? '';
    operator = new OperatorClient({ baseUrl, operatorToken: credentials?.operator_token ?? '' });
    developer = new Trunkcall({ baseUrl, apiKey: credentials?.api_key ?? '' });
    goal = credentials?.goals?.['confirm-delivery'] ?? '';
  }, 60_000);
  afterAll(async () => {
    for (const service of services) await service.stop();
    await database?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  const workers = async () => (await operator.listWorkers()).data;
  const worker = async (id: string) => {
    const found = (await workers()).find((one) => one.id === id);
    if (found === undefined) throw new Error('it is gone');
    return found;
  };
  const call = async (phone: string) => {
    const { run } = await developer.createRun(goal, {
      phone,
      variables: { customer_name: 'Ada', order_reference: 'A-1' },
      idempotencyKey: ids.next('req'),
    });
    return run;
  };

  it('are listed with what they are, and are heard of again and again', async () => {
    const [first] = await workers();
    expect(first).toMatchObject({
      roles: ['api', 'worker'],
      version: '0.1.0',
      alive: true,
      live_calls: 0,
      draining: false,
      drain_requested_at: null,
      trunks: [{ trunk: 'simulated', state: 'up' }],
    });
    const { id, last_seen_at: seen } = first ?? fail();
    await expect.poll(async () => (await worker(id)).last_seen_at > seen, { timeout: 10_000 }).toBe(true);
  });

  it('one that drains leads its live call on and begins none; resumed, it begins what waited', async () => {
    const [{ id } = fail()] = await workers();
    const live = await call(endless);
    await expect.poll(async () => (await worker(id)).live_calls, { timeout: 10_000 }).toBe(1);
    expect(await operator.switchWorker(id, 'drain')).toMatchObject({ id, alive: true });
    await expect.poll(async () => (await worker(id)).draining, { timeout: 10_000 }).toBe(true);
    const waiting = await call('+12025550100');
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect((await operator.getRun(waiting.id)).attempts).toEqual([]);
    expect((await operator.getRun(live.id)).status).toBe('in_progress');
    expect(await worker(id)).toMatchObject({ live_calls: 1, alive: true });
    expect((await operator.system()).alerts).toMatchObject([
      { kind: 'no_worker', message: 'Every worker is draining: no call begins.' },
    ]);

    await operator.switchWorker(id, 'resume');
    await expect
      .poll(async () => (await operator.getRun(waiting.id)).status, { timeout: 20_000 })
      .toBe('completed');
    expect(await worker(id)).toMatchObject({ draining: false, drain_requested_at: null });
    await operator.cancelRun(live.id);
    await expect.poll(async () => (await worker(id)).live_calls, { timeout: 10_000 }).toBe(0);
  });

  // The embedded database has one process.
  it.each(kind === 'postgres' ? ['another'] : [])(
    '%s takes the calls of one that drains; stopped, it is gone',
    async () => {
      const [{ id } = fail()] = await workers();
      const second = await start();
      const other = (await workers()).find((one) => one.id !== id) ?? fail();
      await operator.switchWorker(id, 'drain');
      await expect.poll(async () => (await worker(id)).draining, { timeout: 10_000 }).toBe(true);
      const run = await call('+12025550100');
      await expect
        .poll(async () => (await operator.getRun(run.id)).status, { timeout: 20_000 })
        .toBe('completed');
      expect((await operator.system()).alerts).toEqual([]);
      await second.stop();
      expect((await workers()).map(({ id: one }) => one)).not.toContain(other.id);
      await operator.switchWorker(id, 'resume');
    },
  );

  it('an unknown one can not be drained', async () => {
    await expect(operator.switchWorker(ids.next('wrk'), 'drain')).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(operator.switchWorker('all', 'drain')).rejects.toMatchObject({ code: 'not_found' });
  });
});

const age = statement<never>(
  'test_age_worker',
  `update workers set last_seen_at = now() - $2 * interval '1 second' where id = $1`,
);

const addMany = statement<never>(
  'test_add_workers',
  `insert into workers (id, host, version, roles)
   select 'wrk_' || lpad(n::text, 26, '0'), 'host', '1', '{worker}' from generate_series(1, $1::int) n`,
);

describe.each(databases)('a process that died, on %s', (kind) => {
  let test: TestDatabase;
  beforeAll(async () => {
    test = await freshDatabase(kind);
  });
  afterAll(() => test.close());

  const present = async (id: string) => {
    await test.db.query(beat, [id, 'host', '1', ['worker'], 0, '[]', '[]', false]);
  };
  const listed = () => test.db.query(listWorkers);

  it('is shown as silent, then forgotten; should it only have hung, it comes back', async () => {
    const id = ids.next('wrk');
    await present(id);
    expect(await listed()).toMatchObject([{ id, alive: true }]);
    await test.db.query(age, [id, 20]);
    await test.db.query(forgetDeadWorkers);
    expect(await listed()).toMatchObject([{ id, alive: false }]);
    await test.db.query(age, [id, 16 * 60]);
    await test.db.query(forgetDeadWorkers);
    expect(await listed()).toEqual([]);
    await present(id);
    expect(await listed()).toMatchObject([{ id, alive: true }]);
  });

  it('leaves a bounded number of rows, whatever starts and dies', async () => {
    await test.db.query(addMany, [520]);
    await test.db.query(forgetDeadWorkers);
    expect(await listed()).toHaveLength(500);
  });
});

function fail(): never {
  throw new Error('there is none');
}
