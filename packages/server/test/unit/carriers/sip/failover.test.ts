import { createSocket, type Socket } from 'node:dgram';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CallOrder, Placed } from '../../../../src/carriers/carrier.ts';
import type { SipCarrier } from '../../../../src/carriers/sip/sip-carrier.ts';
import { openCarrier, trunkAt } from '../../../kit/sip/carrier.ts';
import { startPhones, type Answering, type TrunkPhones } from '../../../kit/sip/phones.ts';
import { until } from '../../../kit/until.ts';

const number = '+12125550100';
const orderFor = (over: Partial<CallOrder> = {}): CallOrder => ({
  attemptId: 'att_failover',
  to: number,
  from: null,
  ringLimitMs: 5_000,
  locale: 'en-US',
  simulation: {
    resultSchema: { type: 'object', additionalProperties: false, properties: {}, required: [] },
    callees: [],
  },
  ...over,
});

const answers: Answering = (call, phones) => void phones.pickUp(call);

describe('when the first trunk', () => {
  let second: TrunkPhones;
  const open: { close(): Promise<void> }[] = [];
  let steps: string[];

  beforeEach(async () => {
    second = await startPhones({ [number]: answers });
    open.push(second);
    steps = [];
  });
  afterEach(async () => {
    for (const thing of open.splice(0).reverse()) await thing.close();
  });

  async function first(answering: Answering): Promise<number> {
    const phones = await startPhones({ [number]: answering });
    open.push(phones);
    return phones.port;
  }

  async function carrierOver(port: number, over: Parameters<typeof trunkAt>[1] = {}): Promise<SipCarrier> {
    const carrier = await openCarrier([
      trunkAt(port, { first_response_seconds: 1, ...over }),
      trunkAt(second.port, { name: 'south' }),
    ]);
    open.push(carrier);
    return carrier;
  }

  function place(carrier: SipCarrier, over: Partial<CallOrder> = {}): Promise<Placed> {
    const watcher = { progress: (step: string) => steps.push(step) };
    return carrier.place(orderFor(over), watcher, new AbortController().signal);
  }

  it('is dead, the call goes over the second', async () => {
    const dead: Socket = createSocket('udp4');
    await new Promise<void>((resolve) => dead.bind(0, '127.0.0.1', resolve));
    open.push({ close: () => new Promise((resolve) => dead.close(() => resolve())) });
    const placed = await place(await carrierOver(dead.address().port));
    expect(placed.kind).toBe('answered');
    expect(steps).toEqual(['trying', 'ringing']);
  });

  it('refuses the connection, the call goes over the second', async () => {
    const carrier = await carrierOver(0, { proxy: { host: '127.0.0.1', port: 1, transport: 'tcp' } });
    expect((await place(carrier)).kind).toBe('answered');
  });

  it.each([500, 502, 503, 504])(
    'says %i before anything rang, the call goes over the second',
    async (status) => {
      const carrier = await carrierOver(await first((call) => call.reject(status)));
      expect((await place(carrier)).kind).toBe('answered');
    },
  );

  it('fails and the right to dial is gone by then, nobody else is called', async () => {
    const carrier = await carrierOver(await first((call) => call.reject(503)));
    let asked = 0;
    const placed = await place(carrier, { mayLeave: () => (asked += 1) === 1 });
    expect(placed).toMatchObject({ kind: 'ended', ending: { outcome: 'canceled', endedBy: 'us' } });
    expect([asked, second.called]).toEqual([2, []]);
  });

  it.each([
    [486, 'busy'],
    [603, 'declined'],
    [404, 'invalid_number'],
    [480, 'unreachable'],
    [403, 'carrier_error'],
    [488, 'carrier_error'],
  ])('says %i, nobody else is called', async (status, outcome) => {
    const carrier = await carrierOver(await first((call) => call.reject(status)));
    expect(await place(carrier)).toMatchObject({ kind: 'ended', ending: { outcome, sipStatus: status } });
    expect(second.called).toEqual([]);
  });

  it('has rung and then fails, nobody else is called', async () => {
    const port = await first((call) => {
      call.ring();
      setTimeout(() => call.reject(503), 100);
    });
    expect(await place(await carrierOver(port))).toMatchObject({
      kind: 'ended',
      ending: { outcome: 'carrier_error', sipStatus: 503 },
    });
    expect(steps).toEqual(['trying', 'ringing']);
    expect(second.called).toEqual([]);
  });

  it('rings to the limit, nobody else is called', async () => {
    const carrier = await carrierOver(await first((call) => call.ring()));
    expect(await place(carrier, { ringLimitMs: 1_500 })).toMatchObject({
      kind: 'ended',
      ending: { outcome: 'ring_timeout', endedBy: 'us', sipStatus: 487 },
    });
    expect(second.called).toEqual([]);
  });

  it('says 100 and nothing more, nobody else is called', async () => {
    // The user agent of the trunk sends a 100 by itself.
    const carrier = await carrierOver(await first(() => undefined));
    const placed = await place(carrier, { ringLimitMs: 1_500 });
    expect(placed).toMatchObject({ kind: 'ended', ending: { outcome: 'ring_timeout' } });
    expect(second.called).toEqual([]);
  });

  it('asks for a pause, it gets one; without asking it gets none', async () => {
    const phones = await startPhones({
      [number]: (call) => call.reject(503, { headers: [['Retry-After', '600']] }),
    });
    open.push(phones);
    const carrier = await carrierOver(phones.port);
    expect((await place(carrier)).kind).toBe('answered');
    expect((await place(carrier, { attemptId: 'att_2' })).kind).toBe('answered');
    expect(phones.called).toHaveLength(1);
    expect(second.called).toHaveLength(2);

    const failing = await startPhones({ [number]: (call) => call.reject(503) });
    open.push(failing);
    const other = await carrierOver(failing.port);
    await place(other, { attemptId: 'att_3' });
    await place(other, { attemptId: 'att_4' });
    expect(failing.called).toHaveLength(2);
  });

  it('and the second both fail, the call ends as the carrier’s fault with the last codes', async () => {
    const carrier = await openCarrier([
      trunkAt(await first((call) => call.reject(503))),
      trunkAt(await first((call) => call.reject(500)), { name: 'south' }),
    ]);
    open.push(carrier);
    expect(await place(carrier)).toMatchObject({
      kind: 'ended',
      ending: { outcome: 'carrier_error', endedBy: 'carrier', sipStatus: 500 },
    });
  });

  it('rests and there is no other, room can be had later, after the rest', async () => {
    const carrier = await openCarrier([
      trunkAt(await first((call) => call.reject(503, { headers: [['Retry-After', '120']] }))),
    ]);
    open.push(carrier);
    await place(carrier);
    const wish = { attemptId: 'att_2', accountId: 'acc_1', to: number };
    const room = await carrier.reserve(wish, new AbortController().signal);
    if (room.kind !== 'later') throw new Error(room.kind);
    expect(room.inMs).toBeGreaterThan(100_000);
    expect(room.inMs).toBeLessThanOrEqual(120_000);
  });

  it('does not answer OPTIONS, it is passed over', async () => {
    const dead = createSocket('udp4');
    await new Promise<void>((resolve) => dead.bind(0, '127.0.0.1', resolve));
    let asked = 0;
    dead.on('message', (text) => (asked += text.toString().startsWith('OPTIONS') ? 1 : 0));
    open.push({ close: () => new Promise((resolve) => dead.close(() => resolve())) });
    const carrier = await openCarrier(
      [trunkAt(dead.address().port, { keepalive_seconds: 1 }), trunkAt(second.port, { name: 'south' })],
      { timers: { t1Ms: 5, t2Ms: 20, t4Ms: 25, timerDMs: 100 } },
    );
    open.push(carrier);
    const isDown = async () => {
      const wish = { attemptId: 'att_probe', accountId: 'acc_1', to: number };
      const room = await carrier.reserve(wish, new AbortController().signal);
      if (room.kind === 'ready') await room.release();
    };
    await isDown();
    await until(() => asked >= 10, 'the second question');
    const begun = performance.now();
    await until(() => performance.now() - begun > 1_500, 'the second time-out');
    const from = performance.now();
    expect((await place(carrier)).kind).toBe('answered');
    // At once: the dead trunk is not even tried.
    expect(performance.now() - from).toBeLessThan(1_000);
  });
});
