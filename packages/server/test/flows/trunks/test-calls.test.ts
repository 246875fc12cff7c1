/** Test calls: from the request to the result, on the simulated network. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { OperatorTestCall } from '@trunkcall/contract';
import { requestTestCall } from '../../../src/authoring/test-calls.ts';
import type { Carrier, CallOrder } from '../../../src/carriers/carrier.ts';
import { createSimulatedNetwork } from '../../../src/carriers/simulated/network.ts';
import { testCallView } from '../../../src/http/operator/trunks.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { systemIds } from '../../../src/platform/ids.ts';
import { createLog } from '../../../src/platform/log.ts';
import { statement } from '../../../src/storage/database.ts';
import { claimTestCall, endTestCall, findTestCall } from '../../../src/storage/test-calls.ts';
import { createTestCaller, type TestCaller } from '../../../src/worker/test-calls.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { facts } from '../../kit/facts.ts';
import { createAccount } from '../../kit/fixtures.ts';

const ids = systemIds(systemClock);
const trunk = 'simulated';

const makeOld = statement<never>(
  'test_age_test_call',
  `update test_calls set created_at = created_at - interval '31 seconds',
                         leased_until = leased_until - interval '91 seconds' where id = $1`,
);
const optOut = statement<never>(
  'test_opt_out',
  'insert into do_not_call (account_id, phone) values ($1, $2)',
);
const own = statement<never>('test_own', `insert into numbers (id, phone) values ($1, $2)`);

describe.each(databases)('a test call on %s', (kind) => {
  let test: TestDatabase;
  const callers: TestCaller[] = [];
  const dialled: CallOrder[] = [];
  beforeAll(async () => {
    test = await freshDatabase(kind);
  });
  afterAll(() => test.close());
  afterEach(async () => {
    for (const caller of callers.splice(0)) await caller.stop();
    dialled.length = 0;
  });

  function caller(over: Partial<Carrier> = {}): TestCaller {
    const network = createSimulatedNetwork({ clock: systemClock, speed: Number.POSITIVE_INFINITY });
    const carrier: Carrier = {
      ...network,
      place(order, watcher, signal) {
        dialled.push(order);
        return network.place(order, watcher, signal);
      },
      ...over,
    };
    const log = createLog('silent');
    const name = ids.next('wrk');
    const made = createTestCaller({ db: test.db, clock: systemClock, log, carrier, synthesizer: null, name });
    callers.push(made);
    return made;
  }

  const request = (phone: string) =>
    test.db.transaction((tx) => requestTestCall(tx, ids, facts.book, trunk, phone));

  async function look(id: string): Promise<OperatorTestCall> {
    const [row] = await test.db.query(findTestCall, [id]);
    if (row === undefined) throw new Error('it is gone');
    return testCallView(row);
  }

  async function ended(id: string): Promise<OperatorTestCall> {
    await expect.poll(async () => (await look(id)).state, { timeout: 10_000 }).toBe('ended');
    return look(id);
  }

  it('passes when somebody answers and hears the announcement; each step is told', async () => {
    const { id } = await request('+12025550100');
    expect(await look(id)).toMatchObject({ state: 'waiting', steps: [], outcome: null });
    await caller().look(false);
    const call = await ended(id);
    expect(call).toMatchObject({ outcome: 'passed', ended_by: 'us', phone: '+•••••••••00', media: null });
    expect(call.steps.map(({ step }) => step)).toEqual([
      'claimed',
      'trying',
      'ringing',
      'answered',
      'announced',
      'ended',
    ]);
    expect(dialled).toMatchObject([{ to: '+12025550100', trunk, ringLimitMs: 30_000 }]);
  });

  it.each([
    ['+12025550102', { outcome: 'busy', sip_status: 486, q850: 17 }],
    ['+12025550101', { outcome: 'ring_timeout' }],
    ['+12025550109', { outcome: 'carrier_error' }],
  ])('to %s ends as the network says', async (phone, expected) => {
    const { id } = await request(phone);
    await caller().look(false);
    expect(await ended(id)).toMatchObject(expected);
  });

  it('is placed once, however many workers look at once', async () => {
    const { id } = await request('+12025550100');
    await Promise.all(Array.from({ length: 8 }, () => caller().look(false)));
    await ended(id);
    expect(dialled).toHaveLength(1);
  });

  it('is left alone by a worker that drains, and by one without the trunk', async () => {
    const { id } = await request('+12025550100');
    await caller().look(true);
    await caller({ states: () => [] }).look(false);
    expect(await look(id)).toMatchObject({ state: 'waiting' });
    await caller().look(false);
    await ended(id);
  });

  it('that nobody takes ends after half a minute, and never rings', async () => {
    const { id } = await request('+12025550100');
    await test.db.query(makeOld, [id]);
    await caller().look(false);
    expect(await look(id)).toMatchObject({ state: 'ended', outcome: 'no_worker' });
    expect(dialled).toEqual([]);
  });

  it('whose worker is gone ends as worker_lost; that worker can then write nothing, and nobody dials again', async () => {
    const { id } = await request('+12025550100');
    const [claimed] = await test.db.query(claimTestCall, ['wrk_dead', [trunk], 90_000, '[]']);
    expect(claimed?.id).toBe(id);
    await caller().look(false);
    expect(await look(id)).toMatchObject({ state: 'calling' });
    await test.db.query(makeOld, [id]);
    await caller().look(false);
    expect(await look(id)).toMatchObject({ state: 'ended', outcome: 'worker_lost' });
    const values = [id, claimed?.fence ?? 0, '[]', 'passed', null, null, null, null, null];
    expect(await test.db.query(endTestCall, values)).toEqual([]);
    expect(dialled).toEqual([]);
  });

  it('is one at a time over a trunk; a stuck one does not stand in the way', async () => {
    const { id } = await request('+12025550100');
    await expect(request('+12025550100')).rejects.toMatchObject({ code: 'test_call_conflict' });
    await test.db.query(makeOld, [id]);
    const next = await request('+12025550100');
    expect(await look(id)).toMatchObject({ outcome: 'no_worker' });
    await caller().look(false);
    await ended(next.id);
  });

  it('to what must not be called is refused, and says why without the number', async () => {
    const accountId = await createAccount(test.db, ids);
    await test.db.query(optOut, [accountId, '+12025550155']);
    await test.db.query(own, [ids.next('num'), '+12025550156']);
    for (const [phone, why] of [
      ['+12025550155', 'asked not to be called again'],
      ['+12025550156', 'a number of this service itself'],
      ['+33123456789', 'no trunk may call'],
      ['+19995550100', 'any known numbering plan'],
    ] as const) {
      const refusal = await request(phone).catch((error: unknown) => error as Error);
      expect(refusal).toMatchObject({ code: 'invalid_phone', message: expect.stringContaining(why) });
      expect(JSON.stringify(refusal)).not.toContain(phone.slice(-6));
    }
    const elsewhere = test.db.transaction((tx) =>
      requestTestCall(tx, ids, facts.book, 'south', '+12025550100'),
    );
    await expect(elsewhere).rejects.toMatchObject({ code: 'not_found' });
  });

  it('within the limits of the day and of the lines; one that got no room did not ring', async () => {
    const refused = await request('+12025550100');
    await caller({ reserve: async () => ({ kind: 'refused', why: 'daily_limit' }) }).look(false);
    expect(await ended(refused.id)).toMatchObject({ outcome: 'daily_limit' });
    const full = await request('+12025550100');
    await caller({ reserve: async () => ({ kind: 'later', inMs: 1_000 }) }).look(false);
    expect(await ended(full.id)).toMatchObject({ outcome: 'no_line' });
    const broken = await request('+12025550100');
    await caller({ reserve: () => Promise.reject(new Error('away')) }).look(false);
    expect(await ended(broken.id)).toMatchObject({ outcome: 'failed' });
    expect(dialled).toEqual([]);
  });

  it('is hung up when its worker stops', async () => {
    const { id } = await request('+12025550113');
    const placing = Promise.withResolvers<void>();
    const one = caller({
      async place(_order, _watcher, signal) {
        placing.resolve();
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        return {
          kind: 'ended',
          ending: { outcome: 'canceled', endedBy: 'us', sipStatus: 487, q850: null, note: null },
        };
      },
    });
    await one.look(false);
    await placing.promise;
    await one.stop();
    expect(await look(id)).toMatchObject({ state: 'ended', outcome: 'canceled' });
  });
});
