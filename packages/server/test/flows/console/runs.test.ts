import type {
  ConsoleAuditEntry,
  ConsoleOverview,
  ConsoleRun,
  ConsoleRunDetail,
  OperatorList,
  TurnLatency,
} from '@trunkcall/contract';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Trunkcall } from '@trunkcall/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/platform/clock.ts';
import { statement } from '../../../src/storage/database.ts';
import { enqueueWebhooks } from '../../../src/storage/webhooks.ts';
import { databases } from '../../kit/database.ts';
import { goalFile, publishGoal } from '../../kit/fixtures.ts';
import { ids, startConsole, type ConsoleService, type Visitor } from './service.ts';

describe.each(databases)('runs in the console on %s', (kind) => {
  let service: ConsoleService;
  let viewer: Visitor;
  let goalId: string;
  let otherGoalId: string;
  let developer: Trunkcall;
  beforeAll(async () => {
    service = await startConsole(kind);
    viewer = await service.person('viewer');
    const { db } = service.database;
    goalId = await publishGoal(db, ids, service.accountId, goalFile({ title: 'One' }));
    otherGoalId = await publishGoal(db, ids, service.accountId, goalFile({ title: 'Other' }));
    developer = new Trunkcall({ baseUrl: service.origin, apiKey: service.apiKey });
  });
  afterAll(() => service.close());

  const start = async (goal: string, phone: string) =>
    (await developer.createRun(goal, { phone, variables: { name: 'Ada' } })).run;
  const list = async (filter: string) => {
    const page = await viewer.get<OperatorList<ConsoleRun>>(`/accounts/${service.accountId}/runs?${filter}`);
    return page.data.map(({ id }) => id);
  };

  test('lists find runs by Goal, state, time and last digits, newest first, and never show a whole number', async () => {
    const before = new Date(Date.now() - 1).toISOString();
    const one = await start(goalId, '+12025550117');
    const two = await start(otherGoalId, '+12025550142');
    const after = new Date(Date.now() + 1).toISOString();
    expect(await list('')).toEqual([two.id, one.id]);
    expect(await list(`goal=${goalId}`)).toEqual([one.id]);
    expect(await list('digits=0142')).toEqual([two.id]);
    expect(await list('status=in_progress')).toEqual([two.id, one.id]);
    expect(await list('status=failed')).toEqual([]);
    expect(await list('error=no_answer')).toEqual([]);
    expect(await list(`since=${before}&until=${after}`)).toEqual([two.id, one.id]);
    expect(await list(`until=${before}`)).toEqual([]);
    expect(await list(`since=${after}`)).toEqual([]);
    expect(await list(`limit=1&after=${two.id}`)).toEqual([one.id]);
    const text = await (await viewer.send('GET', `/accounts/${service.accountId}/runs`)).text();
    expect(text).not.toContain('12025550117');
    expect(text).toContain('17');
  });

  test.each(['digits=1', 'digits=12345', 'status=x', 'error=x', 'since=today', 'goal=x', 'unknown=1'])(
    'a list with %s is refused',
    async (filter) => {
      const response = await viewer.send('GET', `/accounts/${service.accountId}/runs?${filter}`);
      expect(response.status).toBe(400);
    },
  );

  test('a run comes with the schemas that are pinned for it', async () => {
    const run = await start(goalId, '+12025550100');
    const detail = await viewer.get<ConsoleRunDetail>(`/runs/${run.id}`);
    expect(detail).toMatchObject({ id: run.id, title: 'One', variables: { name: 'Ada' } });
    expect(detail.result_schema).toEqual(goalFile().result_schema);
    expect(detail.events.map(({ type }) => type)).toEqual(['call.accepted']);
  });

  test('an author stops a run; who did is noted with it, a second time is refused and not noted', async () => {
    const author = await service.person('author');
    const run = await start(goalId, '+12025550100');
    expect((await viewer.send('POST', `/runs/${run.id}/cancel`)).status).toBe(403);
    expect((await author.send('POST', `/runs/${run.id}/cancel`)).status).toBe(202);
    expect((await author.send('POST', `/runs/${run.id}/cancel`)).status).toBe(409);
    const operator = await service.operator();
    const { data } = await operator.get<OperatorList<ConsoleAuditEntry>>('/audit?limit=100');
    expect(
      data.filter(({ object_id, action }) => object_id === run.id && action === 'run.cancel'),
    ).toHaveLength(1);
  });

  test('the overview counts what waits, and how runs ended', async () => {
    const overview = await viewer.get<ConsoleOverview>(`/accounts/${service.accountId}/overview`);
    expect(overview).toMatchObject({
      calls_now: 0,
      waiting: 3,
      runs: 4,
      answer_rate: null,
      first_word: null,
      answer_wait: null,
    });
    expect(overview.outcomes).toEqual([
      { status: 'in_progress', error: null, runs: 3 },
      { status: 'canceled', error: 'canceled', runs: 1 },
    ]);
    expect(overview.hours).toHaveLength(24);
    expect(overview.hours.reduce((sum, { others }) => sum + others, 0)).toBe(4);
  });

  test('the first words of answered calls are measured, and how long callees waited for answers', async () => {
    const { db } = service.database;
    const latency: TurnLatency = {
      endpointing_ms: 500,
      model_ms: 200,
      speech_ms: null,
      transport_ms: 40,
      total_ms: 740,
    };
    const run = await start(goalId, '+12025550100');
    const attempt = ids.next('att');
    await db.execute(`
      insert into attempts (id, run_id, number, carrier, state, outcome, answered_at, ended_at)
        values ('${attempt}', '${run.run_id}', 1, 'simulated', 'ended', 'conversation', now(), now());
      insert into turns (attempt_id, index, speaker, text, offset_ms, interrupted, latency) values
        ('${attempt}', 0, 'user', 'Hello?', 100, false, null),
        ('${attempt}', 1, 'bot', 'Hi', 900, false, '${JSON.stringify(latency)}'),
        ('${attempt}', 2, 'bot', 'Are you there?', 9000, false, null);
      update runs set attempt_id = '${attempt}' where id = '${run.run_id}';`);
    const overview = await viewer.get<ConsoleOverview>(`/accounts/${service.accountId}/overview`);
    expect(overview).toMatchObject({
      answer_rate: 1,
      result_rate: 0,
      first_word: { p50: 0.9, p95: 0.9 },
      answer_wait: { p50: 0.74, p95: 0.74 },
    });
    const { transcript } = await viewer.get<ConsoleRunDetail>(`/runs/${run.id}`);
    expect(transcript.map((turn) => turn.latency)).toEqual([null, latency, null]);
  });

  test('a live stream tells that a run has moved, to those who may see it', async () => {
    const { db } = service.database;
    const opened = await viewer.send('GET', '/live');
    expect(opened.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const reader = opened.body?.pipeThrough(new TextDecoderStream()).getReader();
    const theirs = await publishGoal(db, ids, service.otherAccountId, goalFile());
    let text = '';
    const until = async (part: string) => {
      while (!text.includes(part)) {
        const chunk = await reader?.read();
        if (chunk?.done !== false) throw new Error(`the stream ended before ${part}`);
        text += chunk.value;
      }
    };
    await until('retry:');
    await db.query(
      statement(
        'foreign_run',
        `insert into runs (id, public_id, account_id, goal_id, run_spec_id, run_spec_version, phone, variables, status)
         select $1, $2, $3, $4, published_run_spec_id, 1, '+12025550100', '{}', 'in_progress' from goals where id = $4`,
      ),
      [ids.next('run'), ids.next('grun'), service.otherAccountId, theirs],
    );
    const own = await start(goalId, '+12025550100');
    await until(own.id);
    expect(text).not.toContain(theirs);
    await reader?.cancel();
  });

  test('what was told of a Run stands on its page, and is found by its id', async () => {
    const { id } = await start(goalId, '+12025550100');
    const sent = [ids.next('evt'), service.accountId, id, 'inbound.completed', '{}', 'https://own.example/'];
    await service.database.db.query(enqueueWebhooks, sent);
    const { deliveries } = await viewer.get<ConsoleRunDetail>(`/runs/${id}`);
    expect(deliveries).toMatchObject([{ call_id: id, type: 'inbound.completed', state: 'pending' }]);
    const found = (run: string) =>
      viewer.send('GET', `/accounts/${service.accountId}/webhook_deliveries?call=${run}`);
    expect(await (await found(id)).json()).toMatchObject({ data: deliveries });
    expect((await found(ids.next('grun'))).status).toBe(404);
  });
});

test('a tab that is gone does not count among those that its person has open', async () => {
  const service = await startConsole('embedded');
  const viewer = await service.person('viewer');
  const { host, port, hostname } = new URL(service.origin);
  const request = `GET /console/api/live HTTP/1.1\r\nhost: ${host}\r\ncookie: ${viewer.cookie}\r\n\r\n`;
  const openOne = async () => {
    const tab = connect(Number(port), hostname);
    tab.write(request);
    const [chunk] = (await once(tab, 'data')) as [Buffer];
    return { tab, status: chunk.toString().slice(9, 12) };
  };
  const tabs = await Promise.all(Array.from({ length: 20 }, openOne));
  expect(new Set(tabs.map(({ status }) => status))).toEqual(new Set(['200']));
  const refused = await openOne();
  expect(refused.status).toBe('429');
  // It says no more than that it has said everything.
  tabs[0]?.tab.end();
  const next = async () => {
    const { tab, status } = await openOne();
    tabs.push({ tab, status });
    return status;
  };
  await expect.poll(next).toBe('200');
  for (const { tab } of [...tabs, refused]) tab.destroy();
  await service.close();
});

test('a live stream ends when its session does', async () => {
  // Its heartbeats come at once, so that none has to be waited for.
  const clock = {
    ...systemClock,
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 20), signal),
  };
  const service = await startConsole('embedded', { clock });
  const viewer = await service.person('viewer');
  const opened = await viewer.send('GET', '/live');
  const whole = opened.text();
  expect((await viewer.send('DELETE', '/session')).status).toBe(204);
  expect(await whole).toContain('retry:');
  await service.close();
});

test('a live stream that can not be served any more ends alone: nothing else is touched', async () => {
  const clock = {
    ...systemClock,
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(ms, 20), signal),
  };
  const service = await startConsole('embedded', { clock });
  const { db } = service.database;
  const viewer = await service.person('viewer');
  const opened = await viewer.send('GET', '/live');
  const whole = opened.text();
  await db.query(statement('hide_sessions', 'alter table sessions rename to hidden_sessions'));
  expect(await whole).toContain('retry:');
  await db.query(statement('show_sessions', 'alter table hidden_sessions rename to sessions'));
  expect(service.logged()).toContain('a live page was ended');
  expect((await viewer.send('GET', '/session')).status).toBe(200);
  await service.close();
});
