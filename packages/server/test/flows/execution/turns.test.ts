/** What an agent reports during a call, as it is kept: a wish at once, and a turn with all that was noted of it. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Agent, SpokenTurn } from '../../../src/agents/agent.ts';
import { isDoNotCall } from '../../../src/storage/acceptance.ts';
import { statement, type Database } from '../../../src/storage/database.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { createHarness, expectIdle, type Harness } from './harness.ts';

const storedLatency = statement<{ readonly latency: unknown }>(
  'test_latency',
  `select t.latency from turns t join runs r on r.attempt_id = t.attempt_id where r.id = $1 order by t.index`,
);

const answeredBy = statement<{ readonly answered_by: string | null }>(
  'test_answered_by',
  'select answered_by from attempts where run_id = $1',
);

const said: SpokenTurn = {
  speaker: 'user',
  text: 'Yes, and there are twelve.',
  offsetMs: 900,
  interrupted: false,
  notes: [
    { kind: 'answer', field: 'confirmed', value: true, quote: 'Yes' },
    { kind: 'answer', field: 'parcels', value: 12, quote: 'twelve' },
  ],
};
const latency = { endpointing_ms: 500, model_ms: 210, speech_ms: null, transport_ms: 40, total_ms: 750 };
const schema = {
  type: 'object' as const,
  additionalProperties: false as const,
  properties: { confirmed: { type: 'boolean' as const }, parcels: { type: 'integer' as const } },
  required: ['confirmed', 'parcels'],
};

describe.each(databases)('what an agent reports on %s', (kind) => {
  let test: TestDatabase;
  let db: Database;
  let running: Harness | undefined;
  beforeAll(async () => {
    test = await freshDatabase(kind);
    db = test.db;
  });
  afterEach(() => running?.stop());
  afterAll(() => test.close());

  async function start(converse: Agent['converse']): Promise<Harness> {
    const agent: Agent = { kind: 'scripted', problems: () => [], converse };
    running = await createHarness({ db, agents: [agent] });
    return running;
  }

  it('a wish not to be called again is kept while the call is still on, and no turn is there yet', async () => {
    const kept = Promise.withResolvers<void>();
    const harness = await start(async (_brief, _leg, transcript) => {
      transcript.optedOut();
      transcript.optedOut();
      await kept.promise;
      return { kind: 'opted_out' };
    });
    const begun = await harness.run(await harness.publish(), '+12025550142');
    await expect.poll(() => db.query(isDoNotCall, [harness.accountId, '+12025550142'])).toHaveLength(1);
    expect(await db.query(storedLatency, [begun.id])).toEqual([]);
    kept.resolve();
    await harness.until(begun);
    await expectIdle(db);
  });

  it('a turn keeps every fact that was noted of it, and the wait that it ended', async () => {
    const harness = await start(async (_brief, _leg, transcript) => {
      transcript.turn({ ...said, latency: null });
      const thanks = { speaker: 'bot', text: 'Thank you.', offsetMs: 2_000, interrupted: false } as const;
      transcript.turn({ ...thanks, notes: [], latency });
      return { kind: 'finished' };
    });
    const ended = await harness.until(
      await harness.run(await harness.publish({ result_schema: schema }), '+12025550143'),
    );
    expect(ended).toMatchObject({ status: 'completed', result: { confirmed: true, parcels: 12 } });
    expect(await db.query(storedLatency, [ended.id])).toEqual([{ latency: null }, { latency }]);
  });

  it('who answered is kept while the call is still on, and the last word counts', async () => {
    const [first, last] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const harness = await start(async (_brief, _leg, transcript) => {
      transcript.answeredBy('human');
      await first.promise;
      transcript.answeredBy('voicemail');
      await last.promise;
      return { kind: 'machine', did: 'hang_up' };
    });
    const begun = await harness.run(await harness.publish(), '+12025550144');
    const kept = () => db.query(answeredBy, [begun.id]);
    await expect.poll(kept).toEqual([{ answered_by: 'human' }]);
    first.resolve();
    await expect.poll(kept).toEqual([{ answered_by: 'voicemail' }]);
    last.resolve();
    await harness.until(begun);
    expect(await kept()).toEqual([{ answered_by: 'voicemail' }]);
  });
});
