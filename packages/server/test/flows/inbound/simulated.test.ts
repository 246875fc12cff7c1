/** Calls to our numbers, from the ring to the result, over the simulated network. */
import { PassThrough } from 'node:stream';
import type { GoalFile, InboundWebhookBody, RefusalReason } from '@trunkcall/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Agent } from '../../../src/agents/agent.ts';
import { createScriptedAgent } from '../../../src/agents/scripted/scripted-agent.ts';
import type { Incoming } from '../../../src/carriers/carrier.ts';
import type { SimulatedRing } from '../../../src/carriers/simulated/caller.ts';
import { admitIncoming } from '../../../src/inbound/admit.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createLog } from '../../../src/platform/log.ts';
import {
  DatabaseUnavailable,
  statement,
  type Database,
  type Statement,
} from '../../../src/storage/database.ts';
import { findRunOfCall } from '../../../src/storage/inbound.ts';
import { createRunReader, type RunRow } from '../../../src/storage/runs.ts';
import { cancelRun } from '../../../src/worker/cancel-run.ts';
import { reap } from '../../../src/worker/reap.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { addNumber, createAccount, goalFile } from '../../kit/fixtures.ts';
import { createHarness, expectIdle, ids, type Harness, type HarnessOptions } from '../execution/harness.ts';

const schema: GoalFile['result_schema'] = {
  type: 'object',
  additionalProperties: false,
  properties: { confirmed: { type: 'boolean', description: 'Does the delivery suit you?' } },
  required: ['confirmed'],
};
/** What answers: no variable is required. */
const answering: Partial<GoalFile> = {
  instructions: 'Help {{name}} with a delivery.',
  input_schema: {
    type: 'object',
    additionalProperties: false,
    properties: { name: { type: 'string', default: 'the caller' } },
    required: ['name'],
  },
  result_schema: schema,
  limits: { ring_seconds: 30, call_seconds: 120 },
};
/** Closed at every moment at which a test can run, but for its first minute. */
const closed: GoalFile['calling_window'] = {
  timezone: 'UTC',
  days: [weekdayIn(3)],
  from: '00:00',
  to: '00:01',
};

function weekdayIn(days: number) {
  const all = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
  return all[(new Date().getUTCDay() + days) % 7] ?? 'sun';
}

const turnsOf = statement<{ speaker: string; text: string }>(
  'test_inbound_turns',
  `select t.speaker, t.text from turns t join attempts a on a.id = t.attempt_id where a.run_id = $1 order by t.index`,
);
const eventsOf = statement<{ type: string }>(
  'test_inbound_events',
  'select type from events where trace_id = $1 order by seq',
);
const rowOf = statement<{ direction: string; phone: string | null; number_id: string; variables: unknown }>(
  'test_inbound_row',
  'select direction, phone, number_id, variables from runs where id = $1',
);
const countRuns = statement<{ runs: number }>(
  'test_inbound_runs',
  `select count(*)::int as runs from runs where number_id = $1`,
);
const refusalsOf = statement<{ scope: string; calls: number }>(
  'test_refusals',
  `select scope, calls from daily_usage where scope like 'refused:' || $1 || ':%' order by scope`,
);
const neverCall = statement<never>(
  'test_inbound_never_call',
  'insert into do_not_call (account_id, phone) values ($1, $2)',
);
const optedOut = statement<{ phone: string }>(
  'test_inbound_opted_out',
  'select phone from do_not_call where account_id = $1',
);
const limitInbound = statement<never>(
  'test_limit_inbound',
  'update accounts set max_inbound_calls = $2 where id = $1',
);
const pauseGoal = statement<never>('test_pause_goal', `update goals set state = 'paused' where id = $1`);
const leaveNumber = statement<never>(
  'test_leave_number',
  'update numbers set inbound_goal_id = null where inbound_goal_id = $1',
);
const holdAccount = statement<never>(
  'test_inbound_hold_account',
  'select id from accounts where id = $1 for update',
);
const waiting = statement<{ readonly statements: number }>(
  'test_inbound_waiting',
  `select count(*)::int as statements from pg_stat_activity
   where wait_event_type = 'Lock' and datname = current_database()`,
);
const expireLease = statement<never>(
  'test_inbound_expire',
  `update jobs set leased_until = now() - interval '1 second' where subject_id = $1 and worker is not null`,
);
const jobOf = statement<{ queue: string; inbound: boolean }>(
  'test_inbound_job',
  'select queue, inbound from jobs where subject_id = $1',
);
const subscribe = statement<never>(
  'test_inbound_subscribe',
  `insert into webhook_endpoints (id, account_id, url, description, types) values ($1, $2, 'https://example.org/', '', $3)`,
);
const published = statement<{ body: string; call_id: string; deliveries: number }>(
  'test_inbound_published',
  `select e.body, e.call_id, (select count(*)::int from webhook_deliveries d where d.event_id = e.id) as deliveries
   from webhook_events e where e.account_id = $1 order by e.id`,
);

let lastPhone = 2_000_000;

/** A Goal that answers a number of its own. */
interface Answered {
  readonly harness: Harness;
  readonly goalId: string;
  readonly numberId: string;
  readonly phone: string;
}

describe.each(databases)('a call to one of our numbers on %s', (kind) => {
  let test: TestDatabase;
  let db: Database;
  let harnesses: Harness[] = [];
  beforeAll(async () => {
    test = await freshDatabase(kind);
    db = test.db;
  });
  afterEach(async () => {
    for (const harness of harnesses) await harness.stop();
    harnesses = [];
  });
  afterAll(() => test.close());

  async function answered(
    over: Partial<GoalFile> = {},
    options: Partial<HarnessOptions> = {},
  ): Promise<Answered> {
    const harness = await createHarness({ db, ...options });
    harnesses.push(harness);
    const goalId = await harness.publish({ ...answering, ...over });
    lastPhone += 1;
    const phone = `+1202${lastPhone}`;
    const numberId = await addNumber(db, ids, { phone, accountId: harness.accountId, goalId });
    return { harness, goalId, numberId, phone };
  }

  async function ring({ harness, phone, numberId, goalId }: Answered, over: Partial<SimulatedRing> = {}) {
    const callId = over.callId ?? `sim_${ids.next('req')}`;
    const rung = await harness.ring({ callId, to: phone, from: '+12125550199', ...over });
    const [made] = await db.query(findRunOfCall, [numberId, callId]);
    const find = createRunReader(db);
    const run = made === undefined ? null : await find(made.public_id, goalId, harness.accountId);
    return { rung, run };
  }

  async function held(line: Answered, over: Partial<SimulatedRing> = {}): Promise<RunRow> {
    const { rung, run } = await ring(line, over);
    expect(rung).toEqual({ kind: 'answered' });
    if (run === null) throw new Error('an answered call has a run');
    return line.harness.until(run);
  }

  const said = async ({ id }: RunRow) =>
    (await db.query(turnsOf, [id])).map((turn) => `${turn.speaker}: ${turn.text}`);
  const runsOf = async ({ numberId }: Answered) => (await db.query(countRuns, [numberId]))[0]?.runs;

  it('brings a result home like a call of ours, with transcript and events, and never says that we call', async () => {
    const line = await answered();
    const run = await held(line);
    expect(run).toMatchObject({ status: 'completed', error_code: null, goal_id: line.goalId });
    expect(run.result).toEqual({ confirmed: expect.any(Boolean) as boolean });
    const turns = await said(run);
    expect(turns[0]).toMatch(
      /^bot: Hello, you have reached the automated assistant of .* I can help you with: /,
    );
    expect(turns.join(' ')).not.toMatch(/calling|called/);
    expect((await db.query(eventsOf, [run.id])).map(({ type }) => type)).toEqual([
      'call.ringing',
      'call.connected',
      ...turns.map(() => expect.stringMatching(/^call\.(speech|asr|interrupted)$/) as string),
      'call.attempt_ended',
      'call.completed',
      'call.result_ready',
    ]);
    const [row] = await db.query(rowOf, [run.id]);
    expect(row).toEqual({
      direction: 'inbound',
      phone: '+12125550199',
      number_id: line.numberId,
      variables: { name: 'the caller' },
    });
    expect(line.harness.dialled).toEqual([]);
    await expectIdle(db);
  });

  it('answers in the language of the Goal, says that it is recorded, and takes callers who hide their number', async () => {
    const run = await held(await answered({ locale: 'es-ES', record: true }), { from: null });
    expect((await said(run))[0]).toMatch(/^bot: Hola, ha llamado al asistente automático de .* se graba\. /);
    expect((await db.query(rowOf, [run.id]))[0]?.phone).toBeNull();
  });

  it('answers somebody who does not want to be called, and keeps the wish of one who says so now', async () => {
    const line = await answered();
    await db.query(neverCall, [line.harness.accountId, '+12125550111']);
    expect(await held(line, { from: '+12125550111' })).toMatchObject({ status: 'completed' });
    const wishes = [
      await held(line, { from: '+12125550112', does: 'opts_out' }),
      // A caller without a number has none that could be kept.
      await held(line, { from: null, does: 'opts_out' }),
    ];
    expect(wishes.map(({ status }) => status)).toEqual(['completed', 'completed']);
    expect((await db.query(optedOut, [line.harness.accountId])).map(({ phone }) => phone).sort()).toEqual([
      '+12125550111',
      '+12125550112',
    ]);
  });

  it('does not take who speaks of voicemail for a machine', async () => {
    const line = await answered({
      callees: [
        { phone: '+12125550160', says: { confirmed: 'Please leave a message after the tone. Yes.' } },
      ],
    });
    const run = await held(line, { from: '+12125550160' });
    expect(run).toMatchObject({ status: 'completed', error_code: null });
    expect(run.result).toEqual({ confirmed: true });
  });

  describe('that nobody takes leaves a counter and no run', () => {
    const refusals: [string, RefusalReason, (line: Answered) => Promise<unknown>, Partial<GoalFile>?][] = [
      ['a paused Goal', 'not_answered', (line) => db.query(pauseGoal, [line.goalId])],
      ['hours that are closed', 'outside_hours', async () => undefined, { calling_window: closed }],
      ['an agent that is not here', 'not_answered', async () => undefined, { agent: { kind: 'cascade' } }],
      [
        'variables that nobody gives',
        'not_answered',
        async () => undefined,
        { input_schema: goalFile().input_schema },
      ],
      [
        'a required locale that the agent does not speak',
        'not_answered',
        async () => undefined,
        { locale: 'ja' },
      ],
    ];
    it.each(refusals)('because of %s: %s', async (_, reason, prepare, over) => {
      const line = await answered(over);
      await prepare(line);
      expect(await ring(line)).toEqual({ rung: { kind: 'refused', reason }, run: null });
      await expect.poll(() => db.query(refusalsOf, [line.numberId])).toHaveLength(1);
      expect(await db.query(refusalsOf, [line.numberId])).toEqual([
        { scope: `refused:${line.numberId}:${reason}`, calls: 1 },
      ]);
      expect(await runsOf(line)).toBe(0);
      await expectIdle(db);
    });

    // The embedded database does one thing after the other.
    const locking = kind === 'postgres' ? ['while it is taken in'] : [];
    describe.each(locking)('because of what happens %s', () => {
      /** Opens a transaction that has done one thing, and commits it when told to. */
      async function open(what: Statement<never>, id: string): Promise<() => Promise<void>> {
        const [done, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
        const committed = db.transaction(async (tx) => {
          await tx.query(what, [id]);
          done.resolve();
          await over.promise;
        });
        await done.promise;
        return () => {
          over.resolve();
          return committed;
        };
      }
      const waits = async () => {
        const found = async () => (await db.query(waiting))[0]?.statements;
        await expect.poll(found, { timeout: 10_000 }).toBe(1);
      };
      const changes = [
        ['its Goal is paused', pauseGoal],
        ['its Goal leaves the number', leaveNumber],
      ] as const;

      it.each(changes)('%s, and it waits for the account', async (_, change) => {
        const line = await answered();
        const letGo = await open(holdAccount, line.harness.accountId);
        const ringing = ring(line);
        await waits();
        await db.query(change, [line.goalId]);
        await letGo();
        expect(await ringing).toEqual({ rung: { kind: 'refused', reason: 'not_answered' }, run: null });
        await expectIdle(db);
      });

      it.each(changes)('%s, which is not committed yet', async (_, change) => {
        const line = await answered();
        const commit = await open(change, line.goalId);
        const ringing = ring(line);
        await waits();
        await commit();
        expect(await ringing).toEqual({ rung: { kind: 'refused', reason: 'not_answered' }, run: null });
        await expectIdle(db);
      });
    });

    it('because the number is not ours', async () => {
      const line = await answered();
      expect(await ring(line, { to: '+12125559999' })).toMatchObject({
        rung: { kind: 'refused', reason: 'unknown_number' },
      });
    });

    it('because the account, or the deployment, leads as many as it may', async () => {
      const line = await answered({}, { speed: 1 });
      await db.query(limitInbound, [line.harness.accountId, 1]);
      const { run } = await ring(line, { does: 'says_nothing' });
      expect(await ring(line)).toMatchObject({ rung: { kind: 'refused', reason: 'busy' } });
      // Calls of ours have limits of their own.
      await db.query(limitInbound, [line.harness.accountId, 5]);
      const outbound = await line.harness.publish({ result_schema: schema });
      const ours = await line.harness.run(outbound, '+12025550107');
      await line.harness.until(ours, ({ attempt_id: attempt }) => attempt !== null);
      for (const { id } of [run, ours].filter((each) => each !== null))
        await cancelRun(db, { clock: systemClock, ids }, (runId) => line.harness.worker.stopRun(runId), id);
      await expect.poll(() => db.query(jobOf, [ours.id])).toEqual([]);
      const full = await answered({}, { settings: { maxDeploymentCalls: 0 } });
      expect(await ring(full)).toMatchObject({ rung: { kind: 'refused', reason: 'busy' } });
      const busy = await answered({}, { settings: { maxCallsPerProcess: 0 } });
      expect(await ring(busy)).toMatchObject({ rung: { kind: 'refused', reason: 'unavailable' } });
    });
  });

  it('outside the opening hours hears the message of the Goal, and nothing is drawn from it', async () => {
    const line = await answered({
      calling_window: closed,
      inbound: { outside_hours: 'message', message: 'We are closed, {{name}}. Please call on a weekday.' },
    });
    const run = await held(line, { does: 'talks_over' });
    expect(run).toMatchObject({
      status: 'completed',
      result: null,
      error_code: 'result_unavailable',
      error_detail_code: 'outside_hours',
    });
    const turns = await said(run);
    expect(
      turns.some((turn) => turn.includes('We are closed, the caller. Please call on a weekday. Goodbye.')),
    ).toBe(true);
    const ours = turns.filter((turn) => turn.startsWith('bot: '));
    expect(ours.join(' ')).not.toContain('?');
    expect(await db.query(jobOf, [run.id])).toEqual([]);
    await expectIdle(db);
  });

  it('makes one run, however many copies of it come', async () => {
    const line = await answered();
    const callId = `sim_${ids.next('req')}`;
    const rings = await Promise.all(Array.from({ length: 8 }, () => ring(line, { callId })));
    const outcomes = rings.map(({ rung }) => (rung.kind === 'refused' ? rung.reason : rung.kind));
    expect(outcomes.toSorted()).toEqual(['answered', ...Array.from({ length: 7 }, () => 'duplicate')]);
    expect(await runsOf(line)).toBe(1);
  });

  it('that its worker never answered is taken in again when a copy comes, once that worker is lost', async () => {
    const line = await answered();
    const [callId, gone] = [`sim_${ids.next('req')}`, new AbortController()];
    const incoming: Incoming = {
      providerCallId: callId,
      identity: callId,
      to: [line.phone],
      from: null,
      trunk: null,
      signal: gone.signal,
      ring: () => undefined,
      accept: () => new Promise(() => undefined),
      reject: () => undefined,
    };
    const dead = {
      db,
      clock: systemClock,
      ids,
      log: createLog('silent'),
      carrier: { name: 'simulated', media: 'speech' },
      agents: [createScriptedAgent({ clock: systemClock, synthesizer: null })],
      worker: 'wrk_dead',
      leaseMs: 60_000,
      scopes: ['deployment', 'carrier:simulated'],
      limits: [10, 10],
    } as const;
    const first = await admitIncoming(dead, incoming);
    // As far as anybody knows it is about to be answered.
    expect(await ring(line, { callId })).toMatchObject({ rung: { kind: 'refused', reason: 'duplicate' } });
    await db.query(expireLease, [first?.subject_id ?? '']);
    await reap({ db, clock: systemClock, ids, log: createLog('silent') });
    const rings = await Promise.all(Array.from({ length: 4 }, () => ring(line, { callId })));
    const outcomes = rings.map(({ rung }) => (rung.kind === 'refused' ? rung.reason : rung.kind));
    expect(outcomes.toSorted()).toEqual(['answered', 'duplicate', 'duplicate', 'duplicate']);
    const run = rings[0]?.run;
    if (run === null || run === undefined) throw new Error('not taken in');
    expect(run.id).not.toBe(first?.subject_id);
    expect(await line.harness.until(run)).toMatchObject({ status: 'completed' });
    expect(await runsOf(line)).toBe(2);
    await expectIdle(db);
  });

  it('that was answered or given up is not taken in again, whatever became of it', async () => {
    const line = await answered({}, { speed: 1 });
    const copies = ['sim_1', 'sim_2'] as const;
    const { run: held } = await ring(line, { callId: copies[0], does: 'says_nothing' });
    const { run: left } = await ring(line, { callId: copies[1], does: 'gives_up' });
    if (held === null || left === null) throw new Error('not taken in');
    const eventsOfHeld = async () => (await db.query(eventsOf, [held.id])).map(({ type }) => type);
    await expect.poll(eventsOfHeld).toContain('call.connected');
    await db.query(expireLease, [held.id]);
    await reap({ db, clock: systemClock, ids, log: createLog('silent') });
    expect(await line.harness.until(held)).toMatchObject({ error_detail_code: 'worker_lost' });
    expect(await line.harness.until(left)).toMatchObject({ error_detail_code: 'caller_gave_up' });
    for (const callId of copies)
      expect(await ring(line, { callId })).toMatchObject({ rung: { kind: 'refused', reason: 'duplicate' } });
  });

  it('whose caller gives up while it rings ends cleanly, and nobody speaks', async () => {
    const line = await answered();
    const { rung, run } = await ring(line, { does: 'gives_up' });
    expect(rung).toEqual({ kind: 'gave_up' });
    if (run === null) throw new Error('it was taken in');
    expect(await line.harness.until(run)).toMatchObject({
      status: 'failed',
      error_code: 'no_answer',
      error_detail_code: 'caller_gave_up',
    });
    expect(await said(run)).toEqual([]);
    await expectIdle(db);
  });

  it('N1: is not answered when its run can not be stored, and the next one is', async () => {
    let broken = true;
    const workerDb: Database = {
      ...db,
      query: (what, values) =>
        broken && what.name === 'accept_inbound'
          ? Promise.reject(new DatabaseUnavailable('away'))
          : db.query(what, values),
      transaction: (work) => db.transaction(work),
    };
    const line = await answered({}, { workerDb });
    expect(await ring(line)).toMatchObject({ rung: { kind: 'refused', reason: 'unavailable' }, run: null });
    broken = false;
    expect(await held(line)).toMatchObject({ status: 'completed' });
  });

  it('N1: is stored, with its lease, before it is answered', async () => {
    let seen: unknown = null;
    const agent: Agent = {
      kind: 'scripted',
      problems: () => [],
      async converse(brief) {
        seen = brief;
        return { kind: 'finished' };
      },
    };
    const line = await answered({ machine: 'leave_message' }, { agents: [agent] });
    await held(line);
    expect(seen).toMatchObject({
      direction: 'inbound',
      announcement: null,
      callerName: line.harness.accountId,
    });
  });

  it('whose worker is lost ends as worker_lost, and a fence keeps the old one from writing', async () => {
    const line = await answered({}, { speed: 1 });
    const { run } = await ring(line, { does: 'says_nothing' });
    if (run === null) throw new Error('not taken in');
    expect(await db.query(jobOf, [run.id])).toEqual([{ queue: 'dial', inbound: true }]);
    await db.query(expireLease, [run.id]);
    await reap({ db, clock: systemClock, ids, log: createLog('silent') });
    const lost = await line.harness.until(run);
    expect(lost).toMatchObject({
      status: 'failed',
      error_code: 'call_failed',
      error_detail_code: 'worker_lost',
    });
    line.harness.worker.stopRun(run.id);
    await line.harness.stop();
    expect(await line.harness.until(run)).toEqual(lost);
    expect(line.harness.dialled).toEqual([]);
    await expectIdle(db);
  });

  it('can be stopped by an operator, as a call of ours', async () => {
    const line = await answered({}, { speed: 1 });
    const { run } = await ring(line, { does: 'says_nothing' });
    if (run === null) throw new Error('not taken in');
    await cancelRun(db, { clock: systemClock, ids }, (id) => line.harness.worker.stopRun(id), run.id);
    expect(await line.harness.until(run)).toMatchObject({
      status: 'canceled',
      error_detail_code: 'operator',
    });
  });

  it('is told to the account’s endpoints, once, with what a GET answers', async () => {
    const accountId = await createAccount(db, ids);
    await db.query(subscribe, [ids.next('whe'), accountId, ['inbound.completed']]);
    await db.query(subscribe, [ids.next('whe'), accountId, ['call.completed']]);
    const line = await answered({}, { accountId });
    const good = await held(line, { from: '+12125550155' });
    const useless = await held(line, { from: null, does: 'answers_uselessly' });
    const { run: gone } = await ring(line, { does: 'gives_up' });
    if (gone === null) throw new Error('not taken in');
    await line.harness.until(gone);
    const events = await db.query(published, [accountId]);
    expect(events.map(({ deliveries }) => deliveries)).toEqual([1, 1, 1]);
    const bodies = events.map(({ body }) => JSON.parse(body) as InboundWebhookBody);
    expect(bodies.map(({ data }) => [data.id, data.status, data.error?.code ?? null, data.from])).toEqual([
      [good.public_id, 'completed', null, '+12125550155'],
      [useless.public_id, 'completed', expect.stringMatching(/^result_/), null],
      [gone.public_id, 'failed', 'no_answer', '+12125550199'],
    ]);
    // By the Run's id its page finds them.
    expect(events.map(({ call_id }) => call_id)).toEqual(bodies.map(({ data }) => data.id));
    expect(bodies[0]).toMatchObject({
      type: 'inbound.completed',
      data: { object: 'goal_run', direction: 'inbound', to: line.phone, result: good.result },
    });
  });

  it('says nothing of numbers or words in the log (I10)', async () => {
    const lines: string[] = [];
    const stream = new PassThrough().on('data', (chunk: Buffer) => lines.push(chunk.toString()));
    const log = createLog('info', stream);
    const line = await answered({ calling_window: closed }, { log });
    await ring(line, { from: '+12125550177' });
    const open = await answered({}, { log });
    await held(open, { from: '+12125550177' });
    await open.harness.stop();
    expect(lines.join('')).toContain('inbound call refused');
    expect(lines.join('')).toContain('"direction":"inbound"');
    for (const secret of ['5550177', line.phone.slice(2), open.phone.slice(2), 'you have reached'])
      expect(lines.join('')).not.toContain(secret);
  });

  it('comes to an end when the worker stops, and no other is taken', async () => {
    const line = await answered({}, { speed: 1, settings: { drainMs: 0 } });
    const { run } = await ring(line, { does: 'says_nothing' });
    if (run === null) throw new Error('not taken in');
    await line.harness.worker.stop();
    expect(await ring(line)).toMatchObject({ rung: { kind: 'refused', reason: 'unavailable' }, run: null });
    expect(await line.harness.until(run)).toMatchObject({ error_detail_code: 'worker_lost' });
  });
});
