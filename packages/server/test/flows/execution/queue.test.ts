import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/platform/clock.ts';
import { systemIds } from '../../../src/platform/ids.ts';
import { findAttempt, intendToDial, recordAnsweredBy, recordTurn } from '../../../src/storage/attempts.ts';
import { statement, type Database } from '../../../src/storage/database.ts';
import {
  claimDialJobs,
  claimJobs,
  ensureCapacity,
  findExpiredJobs,
  putBackJob,
  renewLeases,
  type ClaimedJob,
} from '../../../src/storage/jobs.ts';
import { createLog } from '../../../src/platform/log.ts';
import { endRunWithin } from '../../../src/worker/end-run.ts';
import { reap } from '../../../src/worker/reap.ts';
import { cancelRun } from '../../../src/worker/cancel-run.ts';
import { ownEnd } from '../../../src/dial/outcome.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { createAccount, goalFile, publishGoal } from '../../kit/fixtures.ts';

const ids = systemIds(systemClock);
const log = createLog('silent');
const deps = { ids, clock: systemClock };
const scopes = ['deployment', 'carrier:simulated'];

const insertRuns = statement<{ id: string }>(
  'test_insert_runs',
  `with wanted as (select * from unnest($1::text[], $2::text[]) as w (id, public_id)),
   run as (
     insert into runs (id, public_id, account_id, goal_id, run_spec_id, run_spec_version, phone, variables, status)
     select id, public_id, $3, $4, (select published_run_spec_id from goals where id = $4), 1, '+12025550100', '{}', 'in_progress'
     from wanted
     returning id
   )
   insert into jobs (queue, subject_id, account_id, due_at)
   select 'dial', id, $3, now() - interval '1 second' from run returning subject_id as id`,
);
const counters = statement<{ account: number; leased: number; deployment: number; carrier: number }>(
  'test_counters',
  `select (select coalesce(sum(active_calls), 0) from accounts)::int as account,
          (select count(*) from jobs where queue = 'dial' and carrier is not null)::int as leased,
          (select active_calls from capacity where scope = 'deployment') as deployment,
          (select active_calls from capacity where scope = 'carrier:simulated') as carrier`,
);
const expire = statement<never>(
  'test_expire',
  `update jobs set leased_until = now() - interval '1 second' where subject_id = $1`,
);
const findRun = statement<{ status: string; error_detail_code: string | null; error_code: string | null }>(
  'test_find_run',
  'select status, error_code, error_detail_code from runs where id = $1',
);
const findJob = statement<{ worker: string | null; tries: number }>(
  'test_find_job',
  'select worker, tries from jobs where subject_id = $1',
);

describe.each(databases)('the queue on %s', (kind) => {
  let test: TestDatabase;
  let db: Database;
  let goalId: string;

  beforeAll(async () => {
    test = await freshDatabase(kind);
    db = test.db;
    await db.query(ensureCapacity, [scopes]);
    goalId = await publishGoal(db, ids, await createAccount(db, ids), goalFile());
  });
  beforeEach(() =>
    db.execute(
      `delete from jobs; delete from runs; delete from attempts; delete from events; delete from do_not_call; update accounts set active_calls = 0;
       update capacity set active_calls = 0`,
    ),
  );
  afterAll(() => test.close());

  async function enqueue(accountId: string, count: number): Promise<string[]> {
    const wanted = Array.from({ length: count }, () => ids.next('run'));
    await db.query(insertRuns, [wanted, wanted.map((id) => `g${id}`), accountId, goalId]);
    return wanted;
  }
  const claim = (most: number, limit = 1_000, worker = 'w'): Promise<ClaimedJob[]> =>
    db.query(claimDialJobs, [worker, 'simulated', scopes, [limit, limit], most, 10_000]);
  const finish = (job: ClaimedJob) =>
    endRunWithin(
      db,
      deps,
      { id: job.subject_id, fence: job.fence, callId: null, inbound: false },
      ownEnd('carrier_error'),
    );
  const count = async () => (await db.query(counters))[0];

  it('never exceeds the limit of an account, a carrier or the deployment, whoever claims', async () => {
    const [small, large] = [await createAccount(db, ids, 3), await createAccount(db, ids, 50)];
    await enqueue(small, 40);
    await enqueue(large, 60);
    const open = new Map<string, string>();
    let most = 0;
    let done = 0;
    const worker = async (name: string): Promise<void> => {
      while (done < 100) {
        for (const job of await claim(5, 8, name)) {
          open.set(job.subject_id, job.account_id);
          most = Math.max(most, open.size);
          expect([...open.values()].filter((account) => account === small).length).toBeLessThanOrEqual(3);
          expect(open.size).toBeLessThanOrEqual(8);
        }
        const mine = [...open.keys()].slice(0, 2);
        for (const runId of mine) {
          const owner = open.get(runId);
          if (owner === undefined) continue;
          const [job] = await db.query(fenceOf, [runId]);
          // Taken off our list first: the database frees the slot before this process hears of it.
          open.delete(runId);
          if (job !== undefined && (await finish({ ...job, account_id: owner }))) done += 1;
        }
        await new Promise(setImmediate);
      }
    };
    await Promise.all(['w1', 'w2', 'w3', 'w4'].map(worker));
    expect(most).toBeGreaterThan(3);
    expect(await count()).toEqual({ account: 0, leased: 0, deployment: 0, carrier: 0 });
  });

  it('gives each owner a turn before anyone’s second job', async () => {
    const accounts = await Promise.all([0, 1, 2].map(() => createAccount(db, ids, 100)));
    await enqueue(accounts[0] ?? '', 50);
    await enqueue(accounts[1] ?? '', 2);
    await enqueue(accounts[2] ?? '', 2);
    const claimed = await claim(6);
    const perAccount = accounts.map((id) => claimed.filter((job) => job.account_id === id).length);
    expect(perAccount).toEqual([2, 2, 2]);
  });

  it('passes over an account whose limit is reached, however many jobs it has waiting', async () => {
    const [blocked, free] = [await createAccount(db, ids, 1), await createAccount(db, ids, 10)];
    await enqueue(blocked, 500);
    expect(await claim(10)).toHaveLength(1);
    const wanted = await enqueue(free, 3);
    expect((await claim(10)).map((job) => job.subject_id).sort()).toEqual(wanted.sort());
    expect(await claim(10)).toEqual([]);
  });

  it('refuses every write of a stale fence, and writes nothing of it (I6)', async () => {
    const [runId = ''] = await enqueue(await createAccount(db, ids), 1);
    const [old] = await claim(1);
    await db.query(expire, [runId]);
    await reap({ db, ids, clock: systemClock, log });
    const [renewed] = await claim(1);
    expect(renewed?.fence).toBeGreaterThan(old?.fence ?? 0);
    const stale: [string, number] = [runId, old?.fence ?? 0];
    expect(await db.query(intendToDial, [...stale, 'att_1', 'simulated', 'evt_1', true])).toEqual([]);
    const turn = ['att_1', 0, 'bot', 'Hello', 0, false, null, 'evt_2', 'call.speech', true];
    expect(await db.query(recordTurn, [...stale, ...turn])).toEqual([]);
    expect(
      await endRunWithin(
        db,
        deps,
        { id: stale[0], fence: stale[1], callId: null, inbound: false },
        ownEnd('worker_lost'),
      ),
    ).toBe(false);
    expect(await db.query(putBackJob, [...stale, 'dial', 0, true])).toEqual([]);
    expect(await db.query(renewLeases, [['dial'], [runId], [old?.fence ?? 0], 1_000])).toEqual([]);
    expect((await db.query(findRun, [runId]))[0]?.status).toBe('in_progress');
    expect((await db.query(nothingWritten))[0]).toEqual({ written: 0 });
  });

  it('lets only one intent to dial exist for a run (I4)', async () => {
    const [runId = ''] = await enqueue(await createAccount(db, ids), 1);
    const [job] = await claim(1);
    const intend = () =>
      db.query(intendToDial, [runId, job?.fence ?? 0, ids.next('att'), 'simulated', ids.next('evt'), true]);
    const intents = await Promise.allSettled([intend(), intend(), intend()]);
    const granted = intents.filter((one) => one.status === 'fulfilled' && one.value.length === 1);
    expect(granted).toHaveLength(1);
    const answered = [runId, job?.fence ?? 0, (await db.query(findAttempt, [runId]))[0]?.id ?? '', 'human'];
    expect(await db.query(recordAnsweredBy, answered)).toHaveLength(1);
    await db.query(expire, [runId]);
    await reap({ db, ids, clock: systemClock, log });
    expect(await claim(1)).toEqual([]);
    expect(await db.query(recordAnsweredBy, answered)).toEqual([]);
  });

  it('dispatches again what a lost worker had not dialled, and ends what it may have dialled', async () => {
    const [first = '', second = ''] = await enqueue(await createAccount(db, ids), 2);
    const jobs = await claim(2);
    const fence = (runId: string) => jobs.find((job) => job.subject_id === runId)?.fence ?? 0;
    await db.query(intendToDial, [
      second,
      fence(second),
      ids.next('att'),
      'simulated',
      ids.next('evt'),
      true,
    ]);
    for (const runId of [first, second]) await db.query(expire, [runId]);
    await reap({ db, ids, clock: systemClock, log });
    expect((await db.query(findJob, [first]))[0]).toEqual({ worker: null, tries: 1 });
    expect((await db.query(findRun, [second]))[0]).toEqual({
      status: 'failed',
      error_code: 'call_failed',
      error_detail_code: 'worker_lost',
    });
    expect(await db.query(findJob, [second])).toEqual([]);
    expect(await count()).toEqual({ account: 0, leased: 0, deployment: 0, carrier: 0 });
  });

  it('gives up a job that has killed five workers', async () => {
    const [runId = ''] = await enqueue(await createAccount(db, ids), 1);
    for (let death = 1; death <= 5; death += 1) {
      expect(await claim(1)).toHaveLength(1);
      await db.query(expire, [runId]);
      await reap({ db, ids, clock: systemClock, log });
    }
    expect((await db.query(findRun, [runId]))[0]?.error_detail_code).toBe('worker_lost');
    expect(await db.query(findExpiredJobs, [10])).toEqual([]);
  });

  it('does an extraction again after its worker died, and only the holder publishes', async () => {
    const [runId = ''] = await enqueue(await createAccount(db, ids), 1);
    const [job] = await claim(1);
    await endRunWithin(
      db,
      deps,
      { id: runId, fence: job?.fence ?? 0, callId: null, inbound: false },
      ownEnd('conversation'),
    );
    expect(await db.query(claimJobs, ['w', 'extract', 5, 10_000])).toHaveLength(1);
    await db.query(expire, [runId]);
    await reap({ db, ids, clock: systemClock, log });
    const [again] = await db.query(claimJobs, ['w', 'extract', 5, 10_000]);
    expect(again).toMatchObject({ subject_id: runId, tries: 2 });
  });

  it('cancels a waiting run at once, and asks the worker of a live one to stop it', async () => {
    const [live = '', waiting = ''] = await enqueue(await createAccount(db, ids, 1), 2);
    const [job] = await claim(1);
    expect(job?.subject_id).toBe(live);
    const stopped: string[] = [];
    const cancel = (id: string) =>
      cancelRun(db, { ids, clock: systemClock }, (runId) => stopped.push(runId), id);
    expect(await cancel(waiting)).toBe('stopping');
    expect(stopped).toEqual([]);
    expect(await cancel(live)).toBe('stopping');
    expect(stopped).toEqual([live]);
    expect((await db.query(findRun, [waiting]))[0]?.status).toBe('canceled');
    const [renewed] = await db.query(renewLeases, [['dial'], [live], [job?.fence ?? 0], 10_000]);
    expect(renewed?.cancel).toBe(true);
    expect(await cancel(waiting)).toBe('ended');
    expect((await count())?.leased).toBe(1);
  });
});

const fenceOf = statement<Omit<ClaimedJob, 'account_id'>>(
  'test_fence_of',
  `select subject_id, fence, tries from jobs where subject_id = $1 and worker is not null`,
);
const nothingWritten = statement<{ written: number }>(
  'test_nothing_written',
  `select ((select count(*) from attempts) + (select count(*) from turns) + (select count(*) from events)
           + (select count(*) from do_not_call))::int as written`,
);
