import type {
  ConsoleAuditEntry,
  ConsoleCall,
  ConsoleCallDetail,
  ConsoleOverview,
  OperatorList,
} from '@trunkcall/contract';
import { Trunkcall } from '@trunkcall/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { statement } from '../../../src/storage/database.ts';
import { databases } from '../../kit/database.ts';
import { createHarness } from '../execution/harness.ts';
import { ids, startConsole, type ConsoleService, type Visitor } from './service.ts';

const callee = '+12025550100';
const schema = {
  type: 'object',
  properties: { suits: { type: 'boolean', description: 'whether it suits' } },
  required: ['suits'],
} as const;

describe.each(databases)('calls in the console on %s', (kind) => {
  let service: ConsoleService;
  let viewer: Visitor;
  let developer: Trunkcall;
  beforeAll(async () => {
    service = await startConsole(kind);
    viewer = await service.person('viewer');
    developer = new Trunkcall({ baseUrl: service.origin, apiKey: service.apiKey });
  });
  afterAll(() => service.close());

  const list = async (filter = '') => {
    const path = `/accounts/${service.accountId}/calls?${filter}`;
    return (await viewer.get<OperatorList<ConsoleCall>>(path)).data;
  };
  const found = async (filter: string) => (await list(filter)).map(({ id }) => id);
  const oneShot = async (task = 'Ask Ada whether Tuesday suits.') =>
    (await developer.createCall({ task, phone: callee, result_schema: schema })).call;

  test('lists find calls by kind, state and time, newest first', async () => {
    const before = new Date(Date.now() - 1).toISOString();
    const one = await oneShot();
    const { call: two } = await developer.createCallTask({ task: `Call ${callee} and ask.` });
    const after = new Date(Date.now() + 1).toISOString();
    expect(await found('')).toEqual([two.id, one.id]);
    expect(await found('kind=task')).toEqual([two.id]);
    expect(await found('kind=one_shot')).toEqual([one.id]);
    expect(await found('status=queued')).toEqual([one.id]);
    expect(await found('status=in_progress')).toEqual([two.id]);
    expect(await found(`since=${before}&until=${after}`)).toEqual([two.id, one.id]);
    expect(await found(`until=${before}`)).toEqual([]);
    expect(await found(`since=${after}`)).toEqual([]);
    expect(await found(`limit=1&after=${two.id}`)).toEqual([one.id]);
    expect((await list('kind=one_shot'))[0]).toMatchObject({
      task: 'Ask Ada whether Tuesday suits.',
      recipients: 1,
    });
  });

  test.each(['kind=x', 'status=x', 'since=today', 'after=x', 'unknown=1'])(
    'a list with %s is refused',
    async (filter) => {
      const { status } = await viewer.send('GET', `/accounts/${service.accountId}/calls?${filter}`);
      expect(status).toBe(400);
    },
  );

  test('a call comes with its schema and its trace, and with the digits of its number hidden', async () => {
    const { id } = await oneShot();
    const text = await (await viewer.send('GET', `/calls/${id}`)).text();
    const detail = JSON.parse(text) as ConsoleCallDetail;
    expect(detail).toMatchObject({ id, kind: 'one_shot', result_schema: schema, deliveries: [] });
    expect(detail.view).toMatchObject({ object: 'call', phone: '+•••••••••00' });
    expect(detail.events.map(({ type }) => type)).toEqual(['call.accepted']);
    expect(text).not.toContain(callee);
  });

  test('the overview counts calls without a Goal, and those that gave a result', async () => {
    const read = () => viewer.get<ConsoleOverview>(`/accounts/${service.accountId}/overview`);
    const before = await read();
    const { id } = await oneShot();
    const after = await read();
    expect(after.runs).toBe(before.runs + 1);
    const counted = ({ hours }: ConsoleOverview) => hours.reduce((sum, { results }) => sum + results, 0);
    expect(counted(after)).toBe(counted(before));
    // As its result was drawn.
    await service.database.db.query(
      statement('test_call_result', `update calls set result = '{"suits": true}' where id = $1`),
      [id],
    );
    expect(counted(await read())).toBe(counted(before) + 1);
    await service.database.db.query(
      statement('test_no_call_result', 'update calls set result = null where id = $1'),
      [id],
    );
  });

  test('an author stops a call; who did is noted, a second time is refused and not noted', async () => {
    const author = await service.person('author');
    const { id } = await oneShot();
    expect((await viewer.send('POST', `/calls/${id}/cancel`)).status).toBe(403);
    const stopped = await author.send('POST', `/calls/${id}/cancel`);
    expect(await stopped.json()).toMatchObject({ id, status: 'canceled' });
    expect((await author.send('POST', `/calls/${id}/cancel`)).status).toBe(409);
    const operator = await service.operator();
    const { data } = await operator.get<OperatorList<ConsoleAuditEntry>>('/audit?limit=100');
    const notes = data.filter(({ object_id, action }) => object_id === id && action === 'call.cancel');
    expect(notes).toHaveLength(1);
  });

  test('a live stream tells of a call and of its deliveries, to those who may see them', async () => {
    const { db } = service.database;
    const opened = await viewer.send('GET', '/live');
    const reader = opened.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const until = async (part: string) => {
      while (!text.includes(part)) {
        const chunk = await reader?.read();
        if (chunk?.done !== false) throw new Error(`the stream ended before ${part}`);
        text += chunk.value;
      }
    };
    await until('retry:');
    const { accountId } = service;
    const owner = await service.person('owner');
    const url = 'https://receiver.example/hook';
    await owner.send('POST', `/accounts/${accountId}/webhooks`, { url });
    const { id } = await oneShot();
    await until(id);
    const harness = await createHarness({ db, accountId });
    try {
      await until('event: deliveries');
    } finally {
      await harness.stop();
      await reader?.cancel();
    }
    expect(text).toContain(`event: calls\ndata: {"moved":[{"id":"${id}"`);
  });

  test('a call that is over shows its transcript, its result and what was delivered of it', async () => {
    const { id } = await oneShot();
    const harness = await createHarness({ db: service.database.db, accountId: service.accountId });
    const read = () => viewer.get<ConsoleCallDetail>(`/calls/${id}`);
    await expect.poll(async () => (await read()).deliveries.length, { timeout: 20_000 }).toBe(1);
    await harness.stop();
    const { view, deliveries } = await read();
    expect(view).toMatchObject({ status: 'completed', result: { suits: expect.any(Boolean) as unknown } });
    expect(deliveries).toMatchObject([{ call_id: id, type: 'call.completed', state: 'pending' }]);
    const path = `/accounts/${service.accountId}/webhook_deliveries?call=${id}`;
    expect((await viewer.get<OperatorList<unknown>>(path)).data).toEqual(deliveries);
  });

  test('to a stranger a call looks as if it were not there', async () => {
    const { id } = await oneShot();
    const stranger = await service.person('viewer', 'stranger@example.org');
    const operator = await service.operator();
    const { person } = await stranger.get<{ person: { id: string } }>('/session');
    await operator.send('DELETE', `/accounts/${service.accountId}/people/${person.id}`);
    expect((await stranger.send('GET', `/calls/${id}`)).status).toBe(404);
    expect((await stranger.send('POST', `/calls/${id}/cancel`)).status).toBe(404);
    expect((await stranger.send('GET', `/accounts/${service.accountId}/calls`)).status).toBe(404);
    expect((await viewer.send('GET', `/calls/${ids.next('call')}`)).status).toBe(404);
  });
});
