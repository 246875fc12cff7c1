import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Agent } from '../../../src/agents/agent.ts';
import { systemClock, type Clock } from '../../../src/platform/clock.ts';
import { createKeyWatch } from '../../../src/platform/key-watch.ts';
import { createLog, type Logger } from '../../../src/platform/log.ts';
import type { Extractor } from '../../../src/result/extractor.ts';
import { statement, type Database } from '../../../src/storage/database.ts';
import { listAttempts } from '../../../src/storage/run-views.ts';
import { cancelRun } from '../../../src/worker/cancel-run.ts';
import { reap } from '../../../src/worker/reap.ts';
import { noteless } from '../../fakes/hears-yes.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { createManualClock } from '../../kit/manual-clock.ts';
import { createHarness, expectIdle, ids, type Harness, type HarnessOptions } from './harness.ts';

const turnsOf = statement<{ speaker: string; text: string; index: number }>(
  'test_turns',
  `select t.speaker, t.text, t.index from turns t join attempts a on a.id = t.attempt_id
   where a.run_id = $1 order by t.index`,
);
const eventsOf = statement<{ type: string; seq: number }>(
  'test_events',
  'select type, seq from events where trace_id = $1 order by seq',
);
const expireLease = statement<{ run_id: string }>(
  'test_expire_lease',
  `update jobs set leased_until = now() - interval '1 second' where subject_id = $1 and worker is not null returning subject_id`,
);
const neverCall = statement<never>(
  'test_never_call',
  'insert into do_not_call (account_id, phone) values ($1, $2)',
);
const wantStopped = statement<never>(
  'test_want_stopped',
  'update runs set cancel_requested_at = now() where id = $1',
);
const leaseOf = statement<{ leased_until: Date }>(
  'test_lease_of',
  `select leased_until from jobs where subject_id = $1 and queue = 'extract' and worker is not null`,
);
const dueNow = statement<never>('test_due_now', `update jobs set due_at = now() where subject_id = $1`);
const ageRun = statement<never>(
  'test_age_run',
  `update runs set created_at = created_at - interval '8 days' where id = $1`,
);
const ageEnd = statement<never>(
  'test_age_end',
  `update runs set created_at = created_at - interval '7 hours', completed_at = completed_at - interval '7 hours'
   where id = $1`,
);
const jobOf = statement<{ queue: string; tries: number; due_in_ms: number; worker: string | null }>(
  'test_job',
  `select queue, tries, worker, (extract(epoch from due_at - now()) * 1000)::float8 as due_in_ms
   from jobs where subject_id = $1`,
);

const question = {
  type: 'object',
  additionalProperties: false,
  properties: { confirmed: { type: 'boolean', description: 'Does the delivery suit you?' } },
  required: ['confirmed'],
} as const;
const answering = {
  result_schema: { ...question, required: [...question.required] },
  limits: { ring_seconds: 30, call_seconds: 120 },
};

describe.each(databases)('a run on %s', (kind) => {
  let test: TestDatabase;
  let db: Database;
  const open: Harness[] = [];

  beforeAll(async () => {
    test = await freshDatabase(kind);
    db = test.db;
  });
  afterEach(async () => {
    for (const harness of open.splice(0)) await harness.stop();
  });
  afterAll(() => test.close());

  async function start(options: Partial<HarnessOptions> = {}): Promise<Harness> {
    const harness = await createHarness({ db, ...options });
    open.push(harness);
    return harness;
  }

  it.each([
    ['00', 'completed', null, null, 'human'],
    ['01', 'failed', 'no_answer', 'ring_timeout', null],
    ['02', 'failed', 'no_answer', 'busy', null],
    ['03', 'failed', 'declined', 'declined', null],
    ['04', 'failed', 'no_answer', 'voicemail', 'voicemail'],
    ['05', 'completed', 'result_invalid', 'missing_required', 'human'],
    ['06', 'completed', 'result_invalid', 'missing_required', 'human'],
    ['07', 'completed', 'result_unavailable', 'nothing_said', 'uncertain'],
    ['08', 'failed', 'call_failed', 'invalid_number', null],
    ['09', 'failed', 'call_failed', 'carrier_error', null],
    ['10', 'completed', 'result_unavailable', 'opted_out', 'human'],
    ['11', 'completed', null, null, 'menu'],
    ['12', 'completed', null, null, 'human'],
    ['13', 'failed', 'timed_out', 'call_limit', 'human'],
  ])(
    'to the simulated person %s ends as %s, %s, %s, answered by %s',
    async (digits, status, code, detail, who) => {
      const harness = await start();
      // Two questions, so that somebody can hang up between them.
      const goalId = await harness.publish({
        ...answering,
        result_schema: {
          ...answering.result_schema,
          properties: {
            ...question.properties,
            parcels: { type: 'integer', description: 'How many parcels do you expect?' },
          },
          required: ['confirmed', 'parcels'],
        },
      });
      const run = await harness.until(await harness.run(goalId, `+120255501${digits}`));
      expect([run.status, run.error_code, run.error_detail_code]).toEqual([status, code, detail]);
      expect(run.result === null).toBe(code !== null);
      expect(run.attempt_id).not.toBeNull();
      const [attempt] = await db.query(listAttempts, [run.id]);
      expect(attempt?.answered_by).toBe(who);
      expect(run.completed_at?.getTime()).toBeGreaterThanOrEqual(run.created_at.getTime());
      expect(harness.dialled).toHaveLength(1);
      await harness.stop();
      await expectIdle(db);
    },
  );

  it('keeps the conversation in order, and an event with each step (I8)', async () => {
    const harness = await start();
    const run = await harness.until(await harness.run(await harness.publish(answering), '+12025550100'));
    const turns = await db.query(turnsOf, [run.id]);
    expect(turns.map(({ index }) => index)).toEqual(turns.map((_, index) => index));
    expect(turns.find(({ speaker }) => speaker === 'bot')?.text).toContain('automated assistant');
    const events = (await db.query(eventsOf, [run.id])).map(({ type }) => type);
    expect(events.slice(0, 3)).toEqual(['call.attempt_started', 'call.ringing', 'call.connected']);
    expect(events.slice(-3)).toEqual(['call.attempt_ended', 'call.completed', 'call.result_ready']);
    expect(events.slice(3, -3)).toHaveLength(turns.length);
  });

  it('is not dialled when its callee has meanwhile asked never to be called', async () => {
    const idle = await start({ settings: { maxCallsPerProcess: 0 } });
    const waiting = await idle.run(await idle.publish(answering), '+14155550155');
    await db.query(neverCall, [idle.accountId, '+14155550155']);
    const harness = await start({ accountId: idle.accountId });
    const ended = await harness.until(waiting);
    expect([ended.status, ended.error_code, ended.error_detail_code]).toEqual([
      'failed',
      'call_failed',
      'do_not_call',
    ]);
    expect(harness.dialled).toEqual([]);
  });

  it('remembers who asks never to be called, and refuses the next Run to that number', async () => {
    const harness = await start();
    const goalId = await harness.publish(answering);
    await harness.until(await harness.run(goalId, '+12125550110'));
    await expect(harness.run(goalId, '+12125550110')).rejects.toMatchObject({ code: 'invalid_phone' });
  });

  it('waits, undialled, while the calling window is closed, and is given up after a week', async () => {
    // The window is open when the Run is accepted, and closed when the worker takes it.
    const saturday = Date.parse('2027-01-09T12:00:00Z');
    const clock: Clock = { ...systemClock, now: () => saturday };
    const harness = await start({ clock });
    const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri'] as const;
    const today = weekdays[(new Date().getUTCDay() + 6) % 7];
    // On a real weekend the Run is accepted outside the window already: then it is due now by hand.
    const window = { timezone: 'UTC', days: [today ?? 'mon'], from: '00:00', to: '24:00' };
    const goalId = await harness.publish({ ...answering, calling_window: window });
    const run = await harness.run(goalId, '+12025550100');
    await db.query(dueNow, [run.id]);
    harness.worker.wake();
    const deferred = async () => (await db.query(jobOf, [run.id]))[0];
    while (((await deferred())?.due_in_ms ?? 0) < 3_600_000) await new Promise(setImmediate);
    expect(harness.dialled).toEqual([]);
    expect(await deferred()).toMatchObject({ worker: null, tries: 0 });
    await db.query(ageRun, [run.id]);
    await db.query(dueNow, [run.id]);
    harness.worker.wake();
    const ended = await harness.until(run);
    expect(ended.error_detail_code).toBe('waited_too_long');
    expect(harness.dialled).toEqual([]);
  });

  it('waits, undialled, while a provider rejects the key that it needs; then one call tries it', async () => {
    const clock = createManualClock(Infinity);
    const key = createKeyWatch(clock, 'TRUNKCALL_REALTIME_API_KEY');
    const keyed: Agent = {
      kind: 'scripted',
      problems: () => [],
      converse: async () => {
        key.saw(401);
        return { kind: 'failed', note: 'the key was rejected' };
      },
    };
    const told: unknown[] = [];
    const silent = createLog('silent');
    const log = { ...silent, warn: (line: unknown) => void told.push(line) } as Logger;
    const harness = await start({ agents: [keyed], keysOf: () => [key], log });
    const goalId = await harness.publish(answering);
    const phones = ['+12025550100', '+12025550112', '+12025550120'];
    key.saw(401);
    const waiting = await Promise.all(phones.map((phone) => harness.run(goalId, phone)));
    const jobs = async () => (await Promise.all(waiting.map(({ id }) => db.query(jobOf, [id])))).flat();
    const isPutBack = ({ worker, due_in_ms: dueIn }: { worker: string | null; due_in_ms: number }) =>
      worker === null && dueIn > 20_000;
    /** Looks at all that wait, until so many of them were put back. */
    const looked = async (left: number) => {
      for (const { id } of waiting) await db.query(dueNow, [id]);
      harness.worker.wake();
      await expect.poll(async () => (await jobs()).filter(isPutBack).length, { timeout: 15_000 }).toBe(left);
    };
    await looked(3);
    await looked(3);
    expect(harness.dialled).toEqual([]);
    expect((await jobs()).map(({ tries }) => tries)).toEqual([0, 0, 0]);
    expect(told).toEqual([
      { agent: 'scripted', reasons: ['the provider rejected the key in TRUNKCALL_REALTIME_API_KEY'] },
    ]);

    clock.advance(60_000);
    await looked(2);
    expect(harness.dialled).toHaveLength(1);
    await harness.stop();
    const another = await start({ agents: [noteless], keysOf: () => [key], accountId: harness.accountId });
    key.saw(200);
    for (const { id } of waiting) await db.query(dueNow, [id]);
    const ended = await Promise.all(waiting.map((run) => another.until(run)));
    expect(ended.filter(({ error_detail_code: code }) => code === 'agent_failed')).toHaveLength(1);
    const all = [...harness.dialled, ...another.dialled].map(({ to }) => to);
    expect(all.sort()).toEqual(phones);
  });

  it('is hung up when an operator stops it', async () => {
    const harness = await start({ speed: 20 });
    const run = await harness.run(await harness.publish(answering), '+12025550113');
    await harness.until(run, ({ attempt_id }) => attempt_id !== null);
    expect(
      await cancelRun(db, { ids, clock: systemClock }, (runId) => harness.worker.stopRun(runId), run.id),
    ).toBe('stopping');
    const ended = await harness.until(run);
    expect([ended.status, ended.error_code, ended.error_detail_code]).toEqual([
      'canceled',
      'canceled',
      'operator',
    ]);
    await harness.stop();
    await expectIdle(db);
  });

  it('is stopped from another process with the next heartbeat', async () => {
    const harness = await start({ speed: 20, settings: { leaseMs: 2_000 } });
    const run = await harness.run(await harness.publish(answering), '+12025550113');
    await harness.until(run, ({ attempt_id }) => attempt_id !== null);
    await cancelRun(db, { ids, clock: systemClock }, () => undefined, run.id);
    expect((await harness.until(run)).status).toBe('canceled');
  });

  it('ends as worker_lost when its lease is taken away in mid-call, and the old worker changes nothing (I4, I6)', async () => {
    const harness = await start({ speed: 20, settings: { leaseMs: 2_000 } });
    const run = await harness.run(await harness.publish(answering), '+12025550113');
    await harness.until(run, ({ attempt_id }) => attempt_id !== null);
    // A heartbeat may come in between.
    const takeAway = async () => {
      await db.query(expireLease, [run.id]);
      return reap({ db, ids, clock: systemClock, log: createLog('silent') });
    };
    await expect.poll(takeAway).toBe(1);
    const ended = await harness.until(run);
    expect([ended.status, ended.error_detail_code]).toEqual(['failed', 'worker_lost']);
    const turns = (await db.query(turnsOf, [run.id])).length;
    await harness.stop();
    expect((await db.query(turnsOf, [run.id])).length).toBe(turns);
    expect(await harness.until(run)).toEqual(ended);
    expect(harness.dialled).toHaveLength(1);
    await expectIdle(db);
  });

  it('goes on when its process was paused for longer than the lease, and nobody else has taken it', async () => {
    // As after a pause: the leases have run out, and the reaper wakes before the heartbeat, which here never comes.
    const heartbeatMs = 500;
    const clock: Clock = {
      ...systemClock,
      sleep: (ms, signal) => systemClock.sleep(ms === heartbeatMs ? 60_000 : ms, signal),
    };
    const harness = await start({ clock, speed: 20, settings: { leaseMs: 4 * heartbeatMs } });
    const run = await harness.run(await harness.publish(answering), '+12025550113');
    expect((await harness.until(run)).error_detail_code).toBe('call_limit');
    await harness.stop();
    await expectIdle(db);
  });

  it('is not dialled by a worker that was paused between its intent and the call (I6)', async () => {
    let paused = 0;
    const clock: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + paused };
    const workerDb: Database = {
      ...db,
      query: async (asked, values) => {
        const rows = await db.query(asked, values);
        if (asked.name === 'intend_to_dial') paused += 60_000;
        return rows;
      },
    };
    const harness = await start({ clock, workerDb });
    const run = await harness.run(await harness.publish(answering), '+12025550100');
    await harness.until(run, ({ attempt_id }) => attempt_id !== null);
    await harness.stop();
    expect(harness.dialled).toEqual([]);
    await db.query(expireLease, [run.id]);
    await reap({ db, ids, clock: systemClock, log: createLog('silent') });
    expect((await harness.until(run)).error_detail_code).toBe('worker_lost');
  });

  it('lets a live call end when the worker stops, and hangs up when that takes too long', async () => {
    const patient = await start({ speed: 60 });
    const goalId = await patient.publish(answering);
    const kept = await patient.run(goalId, '+12025550100');
    await patient.until(kept, ({ attempt_id }) => attempt_id !== null);
    await patient.stop();
    expect((await patient.until(kept, ({ completed_at }) => completed_at !== null)).status).toBe('completed');

    const hasty = await start({ accountId: patient.accountId, speed: 20, settings: { drainMs: 0 } });
    const cut = await hasty.run(goalId, '+12025550113');
    await hasty.until(cut, ({ attempt_id }) => attempt_id !== null);
    await hasty.stop();
    const ended = await hasty.until(cut);
    expect([ended.status, ended.error_detail_code]).toEqual(['failed', 'worker_lost']);
  });

  it('fails as agent_failed when its agent breaks, and the callee is not left on the line', async () => {
    const broken: Agent = {
      kind: 'scripted',
      problems: () => [],
      converse: () => Promise.reject(new TypeError('a fault')),
    };
    const harness = await start({ agents: [broken] });
    const run = await harness.until(await harness.run(await harness.publish(answering), '+12025550100'));
    expect([run.status, run.error_code, run.error_detail_code]).toEqual([
      'failed',
      'call_failed',
      'agent_failed',
    ]);
    const none = await start({ agents: [], accountId: harness.accountId });
    await harness.stop();
    const undialled = await none.until(await none.run(run.goal_id, '+12025550100'));
    expect(undialled.error_detail_code).toBe('agent_failed');
    expect(none.dialled).toEqual([]);
  });

  it('still gets its result when somebody stops it too late', async () => {
    let draw = () => undefined as void;
    let aborted = false;
    const slow: Extractor = {
      extract: async (_, signal) => {
        await new Promise<void>((resolve) => {
          draw = resolve;
        });
        aborted = signal.aborted;
        return { kind: 'nothing', why: 'nothing_said' };
      },
    };
    const harness = await start({ extractor: slow, settings: { leaseMs: 1_200 } });
    const run = await harness.run(await harness.publish(answering), '+12025550100');
    await harness.until(run, ({ status }) => status === 'completed');
    await db.query(wantStopped, [run.id]);
    const before = (await db.query(leaseOf, [run.id]))[0];
    // Three heartbeats later the extraction is still under way, by the same worker.
    const renewed = async () => (await db.query(leaseOf, [run.id]))[0];
    for (let beats = 0, seen = before?.leased_until; beats < 3;) {
      const now = await renewed();
      if (now?.leased_until.getTime() !== seen?.getTime()) [beats, seen] = [beats + 1, now?.leased_until];
      await new Promise(setImmediate);
    }
    draw();
    expect((await harness.until(run)).error_code).toBe('result_unavailable');
    expect(aborted).toBe(false);
  });

  it('ends as result_failed when the extraction fails past its retries, with a pause before each', async () => {
    let tries = 0;
    const failing: Extractor = {
      extract: async () => {
        tries += 1;
        return { kind: 'failed', note: 'no model' };
      },
    };
    const harness = await start({ extractor: failing });
    const run = await harness.run(await harness.publish(answering), '+12025550100');
    await harness.until(run, ({ status }) => status === 'completed');
    const pauses: number[] = [];
    while (pauses.length < 4) {
      const [job] = await db.query(jobOf, [run.id]);
      if (job?.worker === null && job.due_in_ms > 500) {
        pauses.push(Math.round(job.due_in_ms / 1_000));
        await db.query(dueNow, [run.id]);
      }
      await new Promise(setImmediate);
    }
    expect((await harness.until(run)).error_code).toBe('result_failed');
    expect(tries).toBe(5);
    expect(pauses).toEqual([1, 5, 30, 120]);
  });

  it('waits for its result while a provider fails everybody, for hours and without using up its tries', async () => {
    let isOut = true;
    const lacking: Extractor = {
      extract: async () =>
        isOut ? { kind: 'failed', note: 'no model', isOut } : { kind: 'nothing', why: 'nothing_said' },
    };
    const harness = await start({ extractor: lacking });
    const goalId = await harness.publish(answering);
    const run = await harness.run(goalId, '+12025550100');
    const completed = await harness.until(run, ({ status }) => status === 'completed');
    // Nobody can stop what has ended; least of all does it hurry the provider.
    await db.query(wantStopped, [run.id]);
    /** Lets the job be looked at, and tells when next. */
    const lookedAt = async (): Promise<[number, number]> => {
      await db.query(dueNow, [run.id]);
      for (;;) {
        const [job] = await db.query(jobOf, [run.id]);
        if (job?.worker === null && job.due_in_ms > 500)
          return [Math.round(job.due_in_ms / 1_000), job.tries];
        await new Promise(setImmediate);
      }
    };
    for (let looks = 0; looks < 8; looks += 1) expect(await lookedAt()).toEqual([30, 0]);
    expect(await harness.until(run, () => true)).toEqual(completed);
    expect([completed.result, completed.error_code]).toEqual([null, null]);

    isOut = false;
    await db.query(dueNow, [run.id]);
    expect((await harness.until(run)).error_code).toBe('result_unavailable');

    // Six hours after the call tries count.
    isOut = true;
    const given = await harness.run(goalId, '+12025550100');
    await harness.until(given, ({ status }) => status === 'completed');
    await db.query(ageEnd, [given.id]);
    for (let ended = given; ended.error_code !== 'result_failed';) {
      await db.query(dueNow, [given.id]);
      ended = await harness.until(given, () => true);
    }
  });
});
