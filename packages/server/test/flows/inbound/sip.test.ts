/**
 * Calls to our numbers over a real SIP stack, from real callers: SIPp for what happens on the wire, a telephone of our
 * own for a conversation by keys. Skipped, and said so, where SIPp or eSpeak NG is not installed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { GoalFile } from '@trunkcall/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findEspeak } from '../../../src/agents/audio/espeak.ts';
import { createScriptedAgent } from '../../../src/agents/scripted/scripted-agent.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createLog } from '../../../src/platform/log.ts';
import { statement, type Database } from '../../../src/storage/database.ts';
import { cancelRun } from '../../../src/worker/cancel-run.ts';
import { reap } from '../../../src/worker/reap.ts';
import { freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { addNumber, createAccount, goalFile, publishGoal } from '../../kit/fixtures.ts';
import { callIn, hangUp, refusedWith, untilAnswered, type Step } from '../../kit/sip/callers.ts';
import { sippMissing } from '../../kit/sip/sipp.ts';
import { startSipCallee } from '../../kit/sip-callee.ts';
import { expectIdle, ids } from '../execution/harness.ts';
import { startSipWorker, type SipWorker, type SipWorkerOptions } from './sip-worker.ts';

const espeakMissing = spawnSync('espeak-ng', ['--version']).error !== undefined;
if (espeakMissing)
  process.stderr.write('SKIPPED: keys in an inbound call. To run it: apt-get install -y espeak-ng\n');

interface RunOf {
  readonly id: string;
  readonly status: string;
  readonly phone: string | null;
  readonly error_detail_code: string | null;
  readonly result: unknown;
  readonly state: string;
  readonly attempt_id: string;
}
const runsOf = statement<RunOf>(
  'test_sip_runs',
  `select r.id, r.status, r.phone, r.error_detail_code, r.result, a.state, r.attempt_id
   from runs r join attempts a on a.run_id = r.id where r.number_id = $1 order by r.id`,
);
const turnsOf = statement<{ speaker: string; text: string }>(
  'test_sip_inbound_turns',
  `select t.speaker, t.text from turns t where t.attempt_id = $1 order by t.index`,
);
const limitInbound = statement<never>(
  'test_sip_limit',
  'update accounts set max_inbound_calls = $2 where id = $1',
);
const holdAccount = statement<never>('test_hold_account', 'select id from accounts where id = $1 for update');
const waitingFor = statement<{ waiting: number }>(
  'test_waiting',
  `select count(*)::int as waiting from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
);

const inputs: GoalFile['input_schema'] = {
  type: 'object',
  additionalProperties: false,
  properties: {},
  required: [],
};
const number = '+12025550142';

describe.skipIf(sippMissing)('a call over SIP', () => {
  let test: TestDatabase;
  let db: Database;
  const undo: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    test = await freshDatabase('postgres');
    db = test.db;
  });
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
    await db.execute('update numbers set phone = phone || id');
  });
  afterAll(() => test.close());

  async function goal(over: Partial<GoalFile> = {}) {
    const accountId = await createAccount(db, ids);
    const content = goalFile({ instructions: 'Help.', input_schema: inputs, ...over });
    const goalId = await publishGoal(db, ids, accountId, content);
    const numberId = await addNumber(db, ids, { phone: number, accountId, goalId });
    return { accountId, goalId, numberId };
  }

  async function worker(options: Partial<SipWorkerOptions> = {}): Promise<SipWorker> {
    const started = await startSipWorker({ db, ...options });
    undo.push(() => started.stop());
    return started;
  }

  const runs = (numberId: string) => db.query(runsOf, [numberId]);
  /** Waits until the number's first run looks like this. */
  const becomes = async (numberId: string, run: Partial<RunOf>): Promise<void> => {
    const first = async () => (await runs(numberId))[0];
    await expect.poll(first, { timeout: 15_000, interval: 20 }).toMatchObject(run);
  };

  it('is answered, and ends with the caller’s BYE', async () => {
    const { numberId } = await goal();
    const { port } = await worker();
    const steps: Step[] = [
      { send: 'INVITE' },
      { receive: 100 },
      { receive: 180 },
      { receive: 200 },
      { send: 'ACK' },
    ];
    expect(await callIn({ port, to: number, steps: [...steps, { pauseMs: 200 }, ...hangUp] })).toBe(0);
    await becomes(numberId, { status: 'completed', state: 'ended', phone: '+12125550199' });
    await expect.poll(() => expectIdle(db).then(() => true), { timeout: 10_000 }).toBe(true);
  });

  it('may be dialled as the trunk’s country does, by a caller who hides their number', async () => {
    const { numberId } = await goal();
    const { port } = await worker({ trunk: { inbound_country: 'US' } });
    const from = '"Anonymous" <sip:anonymous@anonymous.invalid>';
    expect(await callIn({ port, to: '2025550142', from, steps: [...untilAnswered, ...hangUp] })).toBe(0);
    await becomes(numberId, { status: 'completed', phone: null });
  });

  it('of an unknown number is refused with 404, of a stranger with 403, outside the hours with 480 and a time', async () => {
    const day =
      (['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const)[(new Date().getUTCDay() + 3) % 7] ?? 'sun';
    const { numberId } = await goal({
      calling_window: { timezone: 'UTC', days: [day], from: '00:00', to: '00:01' },
    });
    const { port } = await worker({ trunk: { caller_numbers: ['+12025550199'] } });
    const other = await worker({ trunk: { inbound: ['127.0.0.9'] } });
    expect(await callIn({ port, to: '+12025550177', steps: refusedWith(404) })).toBe(0);
    expect(await callIn({ port: other.port, to: number, steps: refusedWith(403) })).toBe(0);
    const closed = refusedWith(480, ['Retry-After', '[0-9]{5,6}']);
    expect(await callIn({ port, to: number, steps: closed })).toBe(0);
    expect(await runs(numberId)).toEqual([]);
  });

  it('beyond the account’s limit is busy, and is answered again when a line is free', async () => {
    const { accountId, numberId } = await goal();
    await db.query(limitInbound, [accountId, 1]);
    const { port, worker: first } = await worker();
    const stays: Step[] = [...untilAnswered, { receive: 'BYE' }, { send: 'OK' }];
    const staying = callIn({ port, to: number, steps: stays });
    await becomes(numberId, { state: 'answered' });
    expect(await callIn({ port, to: number, steps: refusedWith(486) })).toBe(0);
    const [run] = await runs(numberId);
    await cancelRun(db, { clock: systemClock, ids }, (id) => first.stopRun(id), run?.id ?? '');
    expect(await staying).toBe(0);
    await becomes(numberId, { status: 'canceled' });
    expect(await callIn({ port, to: number, steps: [...untilAnswered, ...hangUp] })).toBe(0);
    expect(await runs(numberId)).toHaveLength(2);
  });

  it('that its caller takes back before the answer gets 487, and its run says so', async () => {
    const { accountId, numberId } = await goal();
    const { port } = await worker();
    const withdrawn = Promise.withResolvers<void>();
    // Nothing can be committed while somebody else holds the account.
    const held = db.transaction(async (tx) => {
      await tx.query(holdAccount, [accountId]);
      await withdrawn.promise;
    });
    const steps: Step[] = [{ send: 'INVITE' }, { receive: 100 }, { pauseMs: 300 }];
    const taken: Step[] = [{ send: 'CANCEL' }, { receive: 200 }, { receive: 487 }];
    const calling = callIn({ port, to: number, steps: [...steps, ...taken] });
    await expect.poll(async () => (await db.query(waitingFor))[0]?.waiting, { timeout: 10_000 }).toBe(1);
    expect(await calling).toBe(0);
    withdrawn.resolve();
    await held;
    await becomes(numberId, { status: 'failed', error_detail_code: 'caller_gave_up' });
    expect((await runs(numberId))[0]?.state).toBe('ended');
  });

  it('whose INVITE comes again and again makes one run', async () => {
    const { numberId } = await goal();
    const { port } = await worker();
    const again: Step[] = [{ send: 'INVITE' }, { send: 'INVITE' }, ...untilAnswered];
    expect(await callIn({ port, to: number, steps: [...again, ...hangUp] })).toBe(0);
    expect(await runs(numberId)).toHaveLength(1);
  });

  it('that a proxy forks to two workers makes one run, and one of them steps back with 482', async () => {
    const { numberId } = await goal();
    const workers = [await worker(), await worker()];
    const steps: Step[] = [
      { send: 'INVITE' },
      { receive: 100, optional: true },
      { receive: 482, optional: true, last: true },
      { receive: 180, optional: true },
      { receive: 200 },
      { send: 'ACK' },
      { receive: 'BYE' },
      { send: 'OK' },
    ];
    const copies = workers.map(({ port }) => callIn({ port, to: number, call: 'forked', steps }));
    await becomes(numberId, { state: 'answered' });
    const [run] = await runs(numberId);
    const stop = (id: string) => workers.forEach((each) => each.worker.stopRun(id));
    // The one that stepped back is over first: the other waits for us to hang up.
    expect(await Promise.race(copies)).toBe(0);
    await cancelRun(db, { clock: systemClock, ids }, stop, run?.id ?? '');
    expect(await Promise.all(copies)).toEqual([0, 0]);
    expect(await runs(numberId)).toHaveLength(1);
  });

  it(
    'whose worker is killed ends as worker_lost, and is not dialled by another',
    { timeout: 40_000 },
    async () => {
      const { numberId } = await goal();
      const program = fileURLToPath(new URL('./sip-worker.ts', import.meta.url));
      const child = spawn(process.execPath, [program, test.url ?? ''], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      undo.push(async () => child.kill('SIGKILL'));
      const lines = createInterface({ input: child.stdout });
      const [line] = (await once(lines, 'line')) as [string];
      const steps: Step[] = [...untilAnswered, { pauseMs: 1_000 }];
      const calling = callIn({ port: Number(line), to: number, steps });
      await becomes(numberId, { state: 'answered' });
      child.kill('SIGKILL');
      await once(child, 'exit');
      expect(await calling).toBe(0);
      const other = await worker();
      await becomes(numberId, {
        status: 'failed',
        error_detail_code: 'worker_lost',
        state: 'ended',
      });
      await reap({ db, clock: systemClock, ids, log: createLog('silent') });
      expect(await runs(numberId)).toHaveLength(1);
      await expectIdle(db);
      expect(await callIn({ port: other.port, to: number, steps: [...untilAnswered, ...hangUp] })).toBe(0);
    },
  );

  it.skipIf(espeakMissing)(
    'is led by the scripted agent, answered with keys, and recorded',
    { timeout: 120_000 },
    async () => {
      const espeak = await findEspeak({ clock: systemClock });
      if (espeak === null) throw new Error('eSpeak NG is missing');
      const { numberId } = await goal({
        title: 'Tests',
        record: true,
        limits: { ring_seconds: 30, call_seconds: 120 },
        result_schema: {
          ...goalFile().result_schema,
          properties: { confirmed: { type: 'boolean', description: 'Does it suit?' } },
        },
      });
      const recordings = mkdtempSync(join(tmpdir(), 'trunkcall-recordings-'));
      undo.push(async () => rmSync(recordings, { recursive: true, force: true }));
      // Speaks four times as fast: a test need not listen.
      const synthesizer: typeof espeak = {
        async speak(text, locale) {
          const made = await espeak.speak(text, locale);
          return made.kind === 'failed'
            ? made
            : { kind: 'speech', pcm: made.pcm.filter((_, at) => at % 4 === 0) };
        },
      };
      const { port } = await worker({
        agents: [createScriptedAgent({ clock: systemClock, synthesizer })],
        carrier: { recordings: { directory: recordings, retentionDays: 1 } },
      });
      const phone = await startSipCallee({ atOnce: '', answers: Array.from({ length: 12 }, () => '1') });
      undo.push(() => phone.close());
      await phone.call(port, number);
      await expect
        .poll(async () => (await runs(numberId))[0], { timeout: 100_000, interval: 100 })
        .toMatchObject({ status: 'completed', result: { confirmed: true }, phone: '+12125550199' });
      const [run] = await runs(numberId);
      const turns = (await db.query(turnsOf, [run?.attempt_id ?? ''])).map(
        ({ speaker, text }) => `${speaker}: ${text}`,
      );
      expect(turns[0]).toMatch(
        /^bot: Hello, you have reached the automated assistant of .*, and this call is recorded\. I can help you with: Tests\./,
      );
      expect(turns).toContain('user: [1] yes');
      expect(turns).toContainEqual(expect.stringMatching(/^bot: I have noted: confirmed: yes\./));
      expect(turns).toContain('bot: Thank you very much. Goodbye.');
      expect(existsSync(join(recordings, `${run?.attempt_id}.wav`))).toBe(true);
      await expect.poll(() => phone.ends).toHaveLength(1);
    },
  );
});
