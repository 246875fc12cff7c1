/** A callee is connected with somebody whom the Goal names: what is committed, and what is never done twice. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Agent, ConversationEnd } from '../../../src/agents/agent.ts';
import { transferTurn } from '../../../src/agents/marks.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { statement } from '../../../src/storage/database.ts';
import { listEvents } from '../../../src/storage/events.ts';
import type { RunRow } from '../../../src/storage/runs.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { until } from '../../kit/until.ts';
import { cancelRun } from '../../../src/worker/cancel-run.ts';
import { createHarness, expectIdle, ids, type Harness, type HarnessOptions } from './harness.ts';

const phone = '+12125550100';
const targets = [
  { name: 'Front desk', phone: '+12125550123', when: 'they ask for a person' },
  { name: 'Busy line', phone: '+12125550102' },
  { name: 'Nobody', phone: '+12125550101' },
];

/** An agent that does nothing but connect, one after the other, until it works. */
function connecting(
  ...names: readonly string[]
): Agent & { readonly told: unknown[]; readonly left: unknown[] } {
  const told: unknown[] = [];
  const left: unknown[] = [];
  return {
    told,
    /** Whether the leg was out of our hands behind each try. */
    left,
    kind: 'scripted',
    problems: () => [],
    async converse(brief, leg, transcript): Promise<ConversationEnd> {
      told.push(brief.transfer?.targets);
      for (const name of names) {
        const outcome = await brief.transfer?.connect(name);
        told.push(outcome);
        left.push(leg.transferred?.aborted);
        if (outcome?.kind !== 'connected') continue;
        transcript.turn(transferTurn(name, leg.clock.now()));
        return { kind: 'transferred', to: name };
      }
      return { kind: 'finished' };
    },
  };
}

const eventsIn = statement<{ readonly id: string }>(
  'test_internal_id',
  'select id from runs where public_id = $1',
);
const attempts = statement<{ readonly ended_by: string | null; readonly note: string | null }>(
  'test_attempt_end',
  'select t.ended_by, t.note from attempts t join runs r on r.id = t.run_id where r.public_id = $1',
);
const stop = statement<never>('test_no_calls', 'insert into do_not_call (account_id, phone) values ($1, $2)');
const leaveOut = statement<never>(
  'test_leave_out',
  `update accounts set disclosure_off_at = case when $2 then now() end,
                       disclosure_off_reason = case when $2 then 'Everybody has agreed.' end where id = $1`,
);
const steal = statement<never>(
  'test_steal',
  `update jobs set fence = fence + 1, leased_until = now() - interval '1 second' where queue = 'dial'`,
);
const cutOff = statement<never>(
  'test_cut_off',
  `update jobs set leased_until = now() - interval '1 second' where queue = 'dial'`,
);

describe.each(databases)('on %s', (kind) => {
  let test_: TestDatabase;
  let harness: Harness;
  beforeAll(async () => {
    test_ = await freshDatabase(kind);
  });
  afterAll(() => test_.close());
  afterEach(() => harness.stop());

  async function run(agent: Agent, over: Partial<HarnessOptions> = {}): Promise<RunRow> {
    harness = await createHarness({ db: test_.db, agents: [agent], ...over });
    return harness.run(await harness.publish({ transfer: targets }), phone);
  }

  async function trace(accepted: RunRow) {
    const [row] = await test_.db.query(eventsIn, [accepted.public_id]);
    const events = await test_.db.query(listEvents, [row?.id ?? '', 0, 100]);
    return events.map(({ type, details }) => ({ type, details }));
  }

  async function attemptOf(accepted: RunRow) {
    const [row] = await test_.db.query(attempts, [accepted.public_id]);
    return row;
  }

  test('they are connected, the run is completed, and its trace says with whom, without a number', async () => {
    const agent = connecting('Front desk');
    const accepted = await run(agent);
    expect(await harness.until(accepted)).toMatchObject({
      status: 'completed',
      error_code: 'result_unavailable',
    });
    expect(harness.transfers).toMatchObject([{ to: '+12125550123', accountId: harness.accountId }]);
    expect(agent.left).toEqual([true]);
    const events = await trace(accepted);
    expect(events.map(({ type }) => type)).toEqual([
      'call.attempt_started',
      'call.ringing',
      'call.connected',
      'call.transfer_started',
      'call.transferred',
      'call.attempt_ended',
      'call.completed',
      'call.result_ready',
    ]);
    expect(events[3]?.details).toMatchObject({
      to: 'Front desk',
      transfer_id: harness.transfers[0]?.transferId,
    });
    expect(events[5]?.details).toMatchObject({ outcome: 'transferred' });
    expect(JSON.stringify(events)).not.toContain('5550123');
    // They talked until one of them hung up; we did not.
    expect(await attemptOf(accepted)).toEqual({ ended_by: 'callee', note: null });
    // What the agent is told has names, and no number either.
    expect(JSON.stringify(agent.told)).not.toMatch(/\+\d/);
    expect(agent.told[0]).toEqual([
      { name: 'Front desk', when: 'they ask for a person' },
      { name: 'Busy line', when: null },
      { name: 'Nobody', when: null },
    ]);
    await expectIdle(test_.db);
  });

  test('who can not be reached leaves the callee with the agent; after three tries nobody is called any more', async () => {
    const agent = connecting('Busy line', 'Stranger', 'Nobody', 'Busy line', 'Front desk');
    const accepted = await run(agent);
    expect(await harness.until(accepted)).toMatchObject({ status: 'completed' });
    expect(agent.told.slice(1)).toEqual(
      ['busy', 'not_allowed', 'no_answer', 'busy', 'not_allowed'].map((why) => ({ kind: 'failed', why })),
    );
    expect(harness.transfers).toHaveLength(3);
    expect(agent.left).toEqual([false, false, false, false, false]);
    const transfers = (await trace(accepted)).filter(({ type }) => type.startsWith('call.transfer'));
    expect(transfers.map(({ type, details }) => [type, details['to'], details['why']])).toEqual([
      ['call.transfer_started', 'Busy line', undefined],
      ['call.transfer_failed', 'Busy line', 'busy'],
      ['call.transfer_started', 'Nobody', undefined],
      ['call.transfer_failed', 'Nobody', 'no_answer'],
      ['call.transfer_started', 'Busy line', undefined],
      ['call.transfer_failed', 'Busy line', 'busy'],
    ]);
  });

  test('whoever asked this account not to call is not called', async () => {
    const agent = connecting('Front desk');
    harness = await createHarness({ db: test_.db, agents: [agent] });
    await test_.db.query(stop, [harness.accountId, '+12125550123']);
    const accepted = await harness.run(await harness.publish({ transfer: targets }), phone);
    await harness.until(accepted);
    expect(agent.told[1]).toEqual({ kind: 'failed', why: 'not_allowed' });
    expect(harness.transfers).toEqual([]);
  });

  test('I6: a worker whose lease is gone calls nobody', async () => {
    const db = test_.db;
    const agent: Agent = {
      ...connecting(),
      async converse(brief) {
        await db.query(steal, []);
        stale = await brief.transfer?.connect('Front desk');
        return { kind: 'finished' };
      },
    };
    let stale: unknown;
    const accepted = await run(agent);
    expect(await harness.until(accepted)).toMatchObject({ error_detail_code: 'worker_lost' });
    await until(() => stale !== undefined, 'the refusal');
    expect(stale).toEqual({ kind: 'failed', why: 'not_allowed' });
    expect(harness.transfers).toEqual([]);
  });

  test('I4: a worker that dies while it rings leaves a run that ends, and nobody is called again', async () => {
    const db = test_.db;
    const agent: Agent = {
      ...connecting(),
      converse(brief) {
        void brief.transfer?.connect('Nobody');
        return new Promise(() => undefined);
      },
    };
    // At the pace of the wall clock: it rings on while the lease runs out.
    const accepted = await run(agent, { speed: 30, settings: { drainMs: 100 } });
    await until(() => harness.transfers.length === 1, 'the transfer');
    await db.query(cutOff, []);
    expect(await harness.until(accepted)).toMatchObject({
      status: 'failed',
      error_code: 'call_failed',
      error_detail_code: 'worker_lost',
    });
    expect(harness.dialled).toHaveLength(1);
    expect(harness.transfers).toHaveLength(1);
  });

  test('an operator’s stop ends the call while it rings and while the two talk', async () => {
    for (const name of ['Nobody', 'Front desk']) {
      const agent = connecting(name);
      const accepted = await run(agent, { speed: 3 });
      await until(() => harness.transfers.length === 1, 'the transfer');
      if (name === 'Front desk') await until(() => agent.told.length === 2, 'the connection');
      const [row] = await test_.db.query(eventsIn, [accepted.public_id]);
      const deps = { clock: systemClock, ids };
      await cancelRun(test_.db, deps, (runId) => harness.worker.stopRun(runId), row?.id ?? '');
      expect(await harness.until(accepted)).toMatchObject({
        status: 'canceled',
        error_detail_code: 'operator',
      });
      if (name === 'Nobody') await harness.stop();
    }
  });

  test('the time limit ends their talk; the run is completed all the same', async () => {
    harness = await createHarness({ db: test_.db, agents: [connecting('Front desk')] });
    const limits = { ring_seconds: 30, call_seconds: 45 };
    const goal = await harness.publish({ transfer: targets, limits });
    const accepted = await harness.run(goal, phone);
    expect(await harness.until(accepted)).toMatchObject({ status: 'completed' });
    expect((await trace(accepted)).at(-3)?.details).toMatchObject({ outcome: 'transferred' });
    expect(await attemptOf(accepted)).toEqual({ ended_by: 'us', note: 'the time limit ended it' });
  });

  test('an account that leaves out the first sentence has that in the trace of its runs, and its agent knows', async () => {
    const briefs: boolean[] = [];
    const agent: Agent = {
      ...connecting(),
      async converse({ disclosure }) {
        briefs.push(disclosure);
        return { kind: 'finished' };
      },
    };
    harness = await createHarness({ db: test_.db, agents: [agent] });
    const goal = await harness.publish();
    const traces = [];
    for (const off of [false, true, false]) {
      await test_.db.query(leaveOut, [harness.accountId, off]);
      const accepted = await harness.run(goal, phone);
      await harness.until(accepted);
      traces.push((await trace(accepted))[0]);
    }
    expect(briefs).toEqual([true, false, true]);
    expect(traces.map((event) => event?.details['disclosure'])).toEqual([undefined, 'off', undefined]);
  });

  test('keys that we press are in the transcript, and an event of their own', async () => {
    harness = await createHarness({ db: test_.db });
    const accepted = await harness.run(await harness.publish(), '+12125550111');
    await harness.until(accepted);
    const events = await trace(accepted);
    expect(events.filter(({ type }) => type === 'call.dtmf')).toHaveLength(1);
    expect(events.find(({ type }) => type === 'call.dtmf')?.details).toEqual({
      attempt_id: expect.stringMatching(/^att_/),
      turn: expect.any(Number),
    });
  });

  test('a Goal that names nobody offers nobody', async () => {
    const agent = connecting('Front desk');
    harness = await createHarness({ db: test_.db, agents: [agent] });
    await harness.until(await harness.run(await harness.publish(), phone));
    expect(agent.told).toEqual([undefined, undefined]);
  });
});
