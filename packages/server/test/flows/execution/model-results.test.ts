import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createChat } from '../../../src/platform/chat/chat.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createModelExtractor } from '../../../src/result/model/model-extractor.ts';
import { statement, type Database } from '../../../src/storage/database.ts';
import { reap } from '../../../src/worker/reap.ts';
import { modelName, startChatServer, type ChatServerOptions } from '../../fakes/chat-server.ts';
import { hearsYes, noteless } from '../../fakes/hears-yes.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { until } from '../../kit/until.ts';
import { createHarness, expectIdle, ids, type Harness, type HarnessOptions } from './harness.ts';

const evidenceOf = statement<{ evidence: unknown }>(
  'test_evidence',
  'select evidence from runs where id = $1',
);
const expireLease = statement<never>(
  'test_expire_lease',
  `update jobs set leased_until = now() - interval '1 second' where subject_id = $1 and worker is not null`,
);

const answering = {
  result_schema: {
    type: 'object' as const,
    additionalProperties: false as const,
    properties: { confirmed: { type: 'boolean' as const, description: 'Does the delivery suit you?' } },
    required: ['confirmed'],
  },
  limits: { ring_seconds: 30, call_seconds: 120 },
};

describe.each(databases)('a run whose result a model draws on %s', (kind) => {
  let test: TestDatabase;
  let db: Database;
  const open: { stop(): Promise<unknown> }[] = [];

  beforeAll(async () => {
    test = await freshDatabase(kind);
    db = test.db;
  });
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one.stop();
  });
  afterAll(() => test.close());

  async function startServer(options: Partial<ChatServerOptions> = {}) {
    const server = await startChatServer({ model: hearsYes, ...options });
    open.push({ stop: () => server.close() });
    return server;
  }

  async function start(url: string, over: Partial<HarnessOptions> = {}): Promise<Harness> {
    const chat = createChat({ clock: systemClock, url, apiKey: 'sk-test', model: modelName });
    const extractor = createModelExtractor(chat);
    const harness = await createHarness({ db, agents: [noteless], extractor, ...over });
    open.push(harness);
    return harness;
  }

  it('has it with its evidence', async () => {
    const server = await startServer();
    const harness = await start(server.url);
    const run = await harness.until(await harness.run(await harness.publish(answering), '+12025550100'));
    expect(run).toMatchObject({ status: 'completed', result: { confirmed: true }, error_code: null });
    const [stored] = await db.query(evidenceOf, [run.id]);
    expect(stored?.evidence).toEqual({
      confirmed: {
        value: true,
        turns: [expect.any(Number)],
        quote: expect.stringMatching(/yes/i),
        confidence: 0.8,
      },
    });
    expect(server.violations).toEqual([]);
    const [first = ''] = server.requests[0]?.messages[1]?.content.split('\n') ?? [];
    expect(first).toMatch(/^The call was on [A-Z][a-z]+day, \d{4}-\d\d-\d\d\.$/);
  });

  it('ends as result_unavailable when the callee answered nothing', async () => {
    const server = await startServer();
    const harness = await start(server.url);
    const run = await harness.until(await harness.run(await harness.publish(answering), '+12025550107'));
    expect([run.error_code, run.error_detail_code]).toEqual(['result_unavailable', 'nothing_said']);
  });

  it('ends as result_invalid when the model never keeps to the schema', async () => {
    const server = await startServer({ model: () => 'I would rather not.', enforces: false });
    const harness = await start(server.url);
    const run = await harness.until(await harness.run(await harness.publish(answering), '+12025550100'));
    expect([run.status, run.error_code, run.error_detail_code]).toEqual([
      'completed',
      'result_invalid',
      'schema_mismatch',
    ]);
  });

  it('has it drawn again when its worker is lost at it, and is never dialled again (I4, I6)', async () => {
    const server = await startServer({ fault: (index) => (index === 0 ? 'hang' : null) });
    const lost = await start(server.url);
    const run = await lost.run(await lost.publish(answering), '+12025550100');
    await until(() => server.requests.length === 1, 'the first question');
    await db.query(expireLease, [run.id]);
    await reap({ db, ids, clock: systemClock, log: createLog('silent') });
    const another = await start(server.url, { accountId: lost.accountId });
    const ended = await another.until(run);
    expect(ended).toMatchObject({ status: 'completed', result: { confirmed: true } });
    expect(server.requests).toHaveLength(2);
    expect([...lost.dialled, ...another.dialled]).toHaveLength(1);
    await another.stop();
    await server.close();
    await lost.stop();
    expect(await lost.until(run)).toEqual(ended);
    await expectIdle(db);
  });
});
