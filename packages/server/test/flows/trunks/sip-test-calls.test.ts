/** Test calls and the state of trunks over real SIP: a carrier of ours, and telephones behind a trunk on the loopback. */
import type { OperatorTestCall, TrunkReport } from '@trunkcall/contract';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { requestTestCall, type TrunkBook } from '../../../src/authoring/test-calls.ts';
import type { SipCarrier } from '../../../src/carriers/sip/sip-carrier.ts';
import { readTrunks, testCallView } from '../../../src/http/operator/trunks.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { systemIds } from '../../../src/platform/ids.ts';
import { createLog } from '../../../src/platform/log.ts';
import { findTestCall } from '../../../src/storage/test-calls.ts';
import { createTrunkSlots } from '../../../src/storage/trunk-slots.ts';
import { beat, listWorkers } from '../../../src/storage/workers.ts';
import { createTestCaller } from '../../../src/worker/test-calls.ts';
import { freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { openCarrier, trunkAt } from '../../kit/sip/carrier.ts';
import { startPhones, tones, type TrunkPhones } from '../../kit/sip/phones.ts';

const ids = systemIds(systemClock);
const [answers, busy, silent, resting] = ['+12125550100', '+12125550102', '+12125550107', '+12125550103'];

describe('a trunk over SIP', () => {
  let test: TestDatabase;
  let phones: TrunkPhones;
  const undo: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    test = await freshDatabase('postgres');
  });
  afterAll(() => test.close());
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
  });

  /** A trunk of its own, so that no two tests share its limits. */
  let trunkNumber = 0;
  async function connect() {
    phones = await startPhones({
      [answers]: (call, trunk) => void trunk.pickUp(call, (media) => media.play(tones([440], 3_000))),
      [busy]: (call) => call.reject(486),
      [silent]: () => undefined,
      [resting]: (call) => call.reject(503, { headers: [['Retry-After', '60']] }),
    });
    let isOpen = true;
    const hangUpPhones = async () => {
      if (isOpen) await phones.close();
      isOpen = false;
    };
    undo.push(hangUpPhones);
    const name = `north-${(trunkNumber += 1)}`;
    const trunk = trunkAt(phones.port, { name, keepalive_seconds: 1 });
    const carrier = await openCarrier([trunk], { slots: createTrunkSlots(test.db, systemClock) });
    undo.push(() => carrier.close());
    const log = createLog('silent');
    const own = { db: test.db, clock: systemClock, log, carrier, synthesizer: null, name: ids.next('wrk') };
    const caller = createTestCaller(own);
    undo.push(() => caller.stop());
    const { proxy, max_calls, calls_per_second, caller_numbers, countries = [] } = trunk;
    const entry = { name, proxy, max_calls, calls_per_second, caller_numbers, countries, allow_prefixes: [] };
    const book: TrunkBook = { trunks: [entry], forbids: () => null };
    const place = async (phone: string): Promise<OperatorTestCall> => {
      const { id } = await test.db.transaction((tx) => requestTestCall(tx, ids, book, name, phone));
      await caller.look(false);
      const look = async () => {
        const [row] = await test.db.query(findTestCall, [id]);
        if (row === undefined) throw new Error('it is gone');
        return testCallView(row);
      };
      await expect.poll(async () => (await look()).state, { timeout: 20_000 }).toBe('ended');
      return look();
    };
    return { carrier, place, name, book, hangUpPhones, worker: own.name };
  }

  const stateOf = (carrier: SipCarrier): TrunkReport => {
    const [state] = carrier.states();
    if (state === undefined) throw new Error('there is no trunk');
    return state;
  };
  async function becomes(carrier: SipCarrier, state: TrunkReport['state']): Promise<void> {
    await expect.poll(() => stateOf(carrier).state, { timeout: 20_000, interval: 100 }).toBe(state);
  }

  it(
    'passes a test call: the announcement is heard, both directions are measured',
    { timeout: 30_000 },
    async () => {
      const { place, carrier, name, book, worker } = await connect();
      const call = await place(answers);
      expect(call).toMatchObject({ outcome: 'passed', ended_by: 'us', note: null });
      expect(call.steps.map(({ step }) => step)).toEqual([
        'claimed',
        'trying',
        'ringing',
        'answered',
        'announced',
        'ended',
      ]);
      expect(call.media?.packets_out).toBeGreaterThan(200);
      expect(call.media?.packets_in).toBeGreaterThan(200);
      // How good it is depends on how busy this machine is.
      expect(call.media?.mos).toBeGreaterThan(1);
      expect(call.provider_call_id).not.toBeNull();
      expect(phones.called).toEqual([answers]);
      // It counts as a call over the trunk, and its line is free again.
      await test.db.query(beat, [
        worker,
        'host',
        '1',
        ['worker'],
        0,
        JSON.stringify(carrier.states()),
        '[]',
        false,
      ]);
      const read = async () => (await readTrunks(test.db, book, await test.db.query(listWorkers)))[0];
      await expect.poll(async () => (await read())?.calls_today).toBe(1);
      expect(await read()).toMatchObject({
        name,
        state: 'up',
        lines_in_use: 0,
        last_failure: null,
        last_test: { id: call.id, outcome: 'passed' },
      });
    },
  );

  it('tells the status that the far end gave', async () => {
    const { place, carrier } = await connect();
    expect(await place(busy)).toMatchObject({
      outcome: 'busy',
      sip_status: 486,
      ended_by: 'callee',
      media: null,
    });
    expect(stateOf(carrier).last_failure).toBeNull();
  });

  it('that asks for a pause rests, and gets no call meanwhile', async () => {
    const { place, carrier } = await connect();
    await becomes(carrier, 'up');
    expect(await place(resting)).toMatchObject({ outcome: 'carrier_error', sip_status: 503 });
    expect(stateOf(carrier)).toMatchObject({
      state: 'resting',
      why: expect.stringMatching(/^it asked for a pause of \d+ s more$/),
      last_failure: { sip_status: 503 },
    });
    expect(await place(answers)).toMatchObject({ outcome: 'no_line' });
    expect(phones.called).toEqual([resting]);
  });

  it(
    'that answers no OPTIONS goes down; a test call is tried all the same',
    { timeout: 40_000 },
    async () => {
      const { place, carrier, hangUpPhones } = await connect();
      await becomes(carrier, 'up');
      const { since } = stateOf(carrier);
      await hangUpPhones();
      await becomes(carrier, 'down');
      expect(stateOf(carrier).why).toBe('it does not answer OPTIONS');
      expect(stateOf(carrier).since > since).toBe(true);
      // Runs wait until it is up again, and so does nothing else.
      const wish = { attemptId: 'att_1', accountId: 'acct_1', to: answers };
      expect(await carrier.reserve(wish, new AbortController().signal)).toMatchObject({ kind: 'later' });
      expect(await place(answers)).toMatchObject({ outcome: 'carrier_error' });
      expect(stateOf(carrier).last_failure).not.toBeNull();
    },
  );
});
