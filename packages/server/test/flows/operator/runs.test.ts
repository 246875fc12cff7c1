import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ListRunsQuery, RunProgress } from '@trunkcall/contract';
import { statement } from '../../../src/storage/database.ts';
import { listAccountAudit } from '../../../src/storage/audit.ts';
import { databases } from '../../kit/database.ts';
import { goalFile } from '../../kit/fixtures.ts';
import { ids, startOperatorService, type OperatorService } from './service.ts';

const addAttempt = statement<never>(
  'test_add_attempt',
  `with attempt as (
     insert into attempts (id, run_id, number, carrier, state) values ($1, $2, $3, 'simulated', 'answered')
   ) update runs set attempt_id = $1 where id = $2`,
);
const addTurn = statement<never>(
  'test_add_turn',
  `insert into turns (attempt_id, index, speaker, text, offset_ms, interrupted) values ($1, $2, 'bot', $3, 1500, false)`,
);
const addEvent = statement<never>(
  'test_add_event',
  `insert into events (trace_id, seq, id, type, details) values ($1, $2, $3, $4, '{"a": 1}')`,
);
const complete = statement<never>(
  'test_complete',
  `update runs set status = 'completed', completed_at = greatest(now(), created_at), result = '{"confirmed": true}',
     evidence = '{"confirmed": {"value": true, "turns": [1], "quote": "yes"}}' where id = $1`,
);

const phone = '+12125550123';

const texts = ({ turns, events }: RunProgress) => [
  ...turns.map(({ text }) => text),
  ...events.map(({ type }) => type),
];

describe.each(databases)('runs on %s', (kind) => {
  let service: OperatorService;
  let account: string;
  let goalId: string;
  beforeAll(async () => {
    service = await startOperatorService(kind);
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    account = (await service.operator.createAccount(`firm ${ids.next('evt').slice(-12)}`)).id;
    goalId = await newGoal();
  });

  async function newGoal(): Promise<string> {
    const file = { text: JSON.stringify(goalFile()), mediaType: 'application/json' } as const;
    const { id } = await service.operator.applyGoal(account, file);
    await service.operator.commandGoal(id, 'publish');
    return id;
  }

  async function newRun(goal = goalId): Promise<{ id: string; runId: string }> {
    const developer = await service.developer(account);
    const { run } = await developer.createRun(goal, { phone, variables: { name: 'Ada' } });
    return { id: run.id, runId: run.run_id };
  }

  const db = () => service.database.db;

  const list = async (query: ListRunsQuery) =>
    (await service.operator.listRuns(query)).data.map(({ id }) => id);

  /** What is new behind a position, without waiting. */
  async function progress(run: string, after?: string): Promise<RunProgress> {
    const query = `wait_seconds=0${after === undefined ? '' : `&after=${after}`}`;
    const response = await fetch(`${service.origin}/operator/v1/runs/${run}/progress?${query}`, {
      headers: { authorization: `Bearer ${service.token}` },
    });
    expect(response.status).toBe(200);
    return (await response.json()) as RunProgress;
  }

  /** An attempt with two turns, three events in all, and a result. */
  async function finish(runId: string): Promise<string> {
    const attemptId = ids.next('att');
    await db().query(addAttempt, [attemptId, runId, 1]);
    await db().query(addTurn, [attemptId, 0, 'Hello.']);
    await db().query(addTurn, [attemptId, 1, 'Goodbye.']);
    await db().query(addEvent, [runId, 1, ids.next('evt'), 'call.connected']);
    await db().query(addEvent, [runId, 2, ids.next('evt'), 'call.result_ready']);
    await db().query(complete, [runId]);
    return attemptId;
  }

  test('a Run is shown by either id, with attempts, transcript, events and evidence', async () => {
    const { id, runId } = await newRun();
    const attemptId = await finish(runId);
    const shown = await service.operator.getRun(id);
    expect(shown).toEqual(await service.operator.getRun(runId));
    expect(shown).toMatchObject({
      id,
      run_id: runId,
      call_id: attemptId,
      account_id: account,
      status: 'completed',
      result: { confirmed: true },
      variables: { name: 'Ada', parcels: 1 },
      attempts: [{ id: attemptId, number: 1, carrier: 'simulated', answered_by: null, ended_at: null }],
      transcript: [
        { attempt: 1, index: 0, speaker: 'bot', text: 'Hello.', offset_seconds: 1.5 },
        { attempt: 1, index: 1, text: 'Goodbye.' },
      ],
      events: [
        { type: 'call.accepted', created_at: shown.created_at },
        { type: 'call.connected' },
        { type: 'call.result_ready' },
      ],
      evidence: { confirmed: { value: true, turns: [1], quote: 'yes' } },
    });
  });

  test('the phone number is shown by its last two digits only, and is in no log line', async () => {
    const { id } = await newRun();
    expect((await service.operator.getRun(id)).phone).toBe('+•••••••••23');
    expect((await service.operator.listRuns({ goal: goalId })).data[0]?.phone).toBe('+•••••••••23');
    expect(service.logged()).not.toContain(phone);
  });

  test('the list goes page by page from the newest to the oldest, without gap or repetition', async () => {
    const made: string[] = [];
    for (let runs = 0; runs < 5; runs += 1) made.push((await newRun()).id);
    const seen: string[] = [];
    let after: string | null = '';
    while (after !== null) {
      const page: Awaited<ReturnType<typeof service.operator.listRuns>> = await service.operator.listRuns({
        goal: goalId,
        limit: 2,
        ...(after === '' ? {} : { after }),
      });
      seen.push(...page.data.map(({ id }) => id));
      after = page.next_cursor;
    }
    expect(seen).toEqual(made.toReversed());
  });

  test('the list can be narrowed to a Goal, an account and a status', async () => {
    const first = await newRun();
    const second = await newRun(await newGoal());
    await finish(second.runId);
    expect(await list({ goal: goalId })).toEqual([first.id]);
    expect(await list({ account })).toEqual([second.id, first.id]);
    expect(await list({ account, status: 'completed' })).toEqual([second.id]);
    expect(await list({ account, status: 'failed' })).toEqual([]);
  });

  test.each([
    'limit=0',
    'limit=101',
    'limit=x',
    'limit=',
    'after=grun_1',
    'goal=x',
    'goal=%00',
    'status=done',
    'colour=red',
    'limit=1&limit=2',
  ])('a list that is asked for with %s is refused', async (query) => {
    const response = await fetch(`${service.origin}/operator/v1/runs?${query}`, {
      headers: { authorization: `Bearer ${service.token}` },
    });
    expect(response.status).toBe(400);
  });

  test('a watcher sees everything once and in order, and ends with the Run', async () => {
    const { id, runId } = await newRun();
    const seen: RunProgress[] = [];
    let finished: Promise<string> | undefined;
    for await (const progress of service.operator.watchRun(id)) {
      seen.push(progress);
      finished ??= finish(runId);
    }
    await finished;
    expect(seen.flatMap(({ events }) => events.map(({ type }) => type))).toEqual([
      'call.accepted',
      'call.connected',
      'call.result_ready',
    ]);
    expect(seen.flatMap(({ turns }) => turns.map(({ text }) => text))).toEqual(['Hello.', 'Goodbye.']);
    expect(seen.at(-1)).toMatchObject({ final: true, run: { result: { confirmed: true } } });
    expect(seen.slice(0, -1).every(({ final }) => !final)).toBe(true);
  });

  test('each position goes on exactly behind what came with it', async () => {
    const { id, runId } = await newRun();
    const accepted = await progress(id);
    expect(texts(accepted)).toEqual(['call.accepted']);
    const first = ids.next('att');
    await db().query(addAttempt, [first, runId, 1]);
    await db().query(addTurn, [first, 0, 'Hello.']);
    const spoken = await progress(id, accepted.position);
    expect(texts(spoken)).toEqual(['Hello.']);
    await db().query(addEvent, [runId, 1, ids.next('evt'), 'call.note']);
    const noted = await progress(id, spoken.position);
    expect(texts(noted)).toEqual(['call.note']);
    const second = ids.next('att');
    await db().query(addAttempt, [second, runId, 2]);
    await db().query(addTurn, [second, 0, 'Hello again.']);
    const again = await progress(id, noted.position);
    expect(texts(again)).toEqual(['Hello again.']);
    expect(texts(await progress(id, again.position))).toEqual([]);
  });

  test.each(['after=1', 'after=1.1.x', 'wait_seconds=31', 'wait_seconds=-1', 'wait_seconds=', 'x=1'])(
    'progress that is asked for with %s is refused',
    async (query) => {
      const { id } = await newRun();
      const response = await fetch(`${service.origin}/operator/v1/runs/${id}/progress?${query}`, {
        headers: { authorization: `Bearer ${service.token}` },
      });
      expect(response.status).toBe(400);
    },
  );

  test('a waiting Run is canceled at once; one that has ended can not be', async () => {
    const { id } = await newRun();
    await expect(service.operator.cancelRun(id)).resolves.toMatchObject({
      status: 'canceled',
      error: { code: 'canceled', detail_code: 'operator' },
    });
    const [noted] = await service.database.db.query(listAccountAudit, [account, null, 1]);
    expect(noted).toMatchObject({ person_id: null, action: 'run.cancel', object_id: id });
    await expect(service.operator.cancelRun(id)).rejects.toMatchObject({
      status: 409,
      code: 'run_not_cancelable',
    });
  });

  test.each(['grun_00000000000000000000000000', 'run_00000000000000000000000000', 'nothing', 'run_\0'])(
    'there is no Run %j',
    async (id) => {
      await expect(service.operator.getRun(id)).rejects.toMatchObject({ status: 404, code: 'not_found' });
      await expect(service.operator.cancelRun(id)).rejects.toMatchObject({ status: 404 });
      await expect(service.operator.watchRun(id).next()).rejects.toMatchObject({ status: 404 });
    },
  );
});

test('watchers do not hold up the end of the service', async () => {
  const service = await startOperatorService('embedded');
  const { id: account } = await service.operator.createAccount('watched');
  const file = { text: JSON.stringify(goalFile()), mediaType: 'application/json' } as const;
  const { id: goalId } = await service.operator.applyGoal(account, file);
  await service.operator.commandGoal(goalId, 'publish');
  const developer = await service.developer(account);
  const { run } = await developer.createRun(goalId, { phone, variables: { name: 'Ada' } });
  const watch = service.operator.watchRun(run.id);
  await watch.next();
  const waiting = watch.next();
  const outcome = waiting.then(
    () => 'answered',
    () => 'refused',
  );
  // By the time that these are answered, the request that waits has been taken up.
  for (let answered = 0; answered < 5; answered += 1) await service.operator.listAccounts();
  const beganAt = performance.now();
  await service.close();
  expect(performance.now() - beganAt).toBeLessThan(10_000);
  expect(['answered', 'refused']).toContain(await outcome);
});
