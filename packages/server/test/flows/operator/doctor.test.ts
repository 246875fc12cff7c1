import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statement } from '../../../src/storage/database.ts';
import { databases } from '../../kit/database.ts';
import { goalFile } from '../../kit/fixtures.ts';
import { providerProblems, startOperatorService, type OperatorService } from './service.ts';

const miscount = statement<never>('test_miscount', 'update accounts set active_calls = 2 where id = $1');
const addJobs = statement<never>(
  'test_add_jobs',
  `insert into jobs (queue, subject_id, account_id, due_at, worker, leased_until)
   values ('dial', 'run_a', $1, now() - interval '5 minutes', null, null),
          ('dial', 'run_b', $1, now() + interval '1 hour', null, null),
          ('extract', 'run_c', $1, now(), 'wrk_1', now() + interval '30 seconds'),
          ('extract', 'run_d', $1, now(), 'wrk_2', now() - interval '30 seconds')`,
);

describe.each(databases)('the check-up on %s', (kind) => {
  let service: OperatorService;
  beforeAll(async () => {
    service = await startOperatorService(kind);
  });
  afterAll(() => service.close());

  test('a fresh deployment has a migrated database and an empty queue', async () => {
    const report = await service.operator.doctor();
    expect(report).toMatchObject({
      environment: 'test',
      database: { kind },
      queues: [],
      workers: [],
      goals: [],
    });
    expect(report.database.migrations[0]?.name).toBe('0001_foundation');
    expect(report.database.version).toMatch(/^\d+\.\d+/);
    // The server of the tests runs without fsync: just what the check-up must tell.
    const warned = report.problems.some((problem) => problem.startsWith('fsync is off'));
    expect(warned).toBe(kind === 'postgres');
  });

  test('late work, expired leases, wrong counters and Goals that are not ready are named', async () => {
    const { id: account } = await service.operator.createAccount('patient');
    const file = {
      text: JSON.stringify(goalFile({ locale: 'de-DE' })),
      mediaType: 'application/json',
    } as const;
    const { id: goalId } = await service.operator.applyGoal(account, file);
    await service.operator.commandGoal(goalId, 'publish');
    const { db } = service.database;
    await db.query(miscount, [account]);
    await db.query(addJobs, [account]);
    providerProblems.push('the provider rejected the key in TRUNKCALL_CHAT_API_KEY');
    const report = await service.operator.doctor();
    providerProblems.pop();
    expect(report).toMatchObject({
      queues: [
        { queue: 'dial', waiting: 2, due: 1, leased: 0, expired: 0 },
        { queue: 'extract', waiting: 0, due: 0, leased: 2, expired: 1, oldest_due_seconds: null },
      ],
      workers: [
        { worker: 'wrk_1', queue: 'extract', leases: 1 },
        { worker: 'wrk_2', queue: 'extract', leases: 1 },
      ],
      wrong_counters: [{ scope: `account:${account}`, counted: 2, leased: 0 }],
      goals: [{ id: goalId, not_ready: ['no agent speaks de-DE'] }],
    });
    expect(report.queues[0]?.oldest_due_seconds).toBeGreaterThan(299);
    expect(report.workers[1]?.lease_seconds_left).toBeLessThan(0);
    expect(report.problems).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^the queue dial is \d+ s behind/),
        expect.stringMatching(/^1 leases of the queue extract have expired/),
        `the counter account:${account} says 2 calls, leased are 0`,
        `${goalId} is not ready: no agent speaks de-DE`,
        'the provider rejected the key in TRUNKCALL_CHAT_API_KEY',
      ]),
    );
  });
});
