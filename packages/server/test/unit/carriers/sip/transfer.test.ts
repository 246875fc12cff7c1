/** Somebody on a SIP leg is connected with somebody else: over our bridge, and by a REFER to the trunk. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { decodeG711, type Call, type MediaCall } from '@trunkcall/sip';
import { afterEach, describe, expect, it } from 'vitest';
import type {
  AudioMedia,
  CallOrder,
  Leg,
  Transferred,
  TransferOrder,
} from '../../../../src/carriers/carrier.ts';
import type { SipCarrier } from '../../../../src/carriers/sip/sip-carrier.ts';
import { systemClock } from '../../../../src/platform/clock.ts';
import { createLog } from '../../../../src/platform/log.ts';
import { openCarrier, trunkAt } from '../../../kit/sip/carrier.ts';
import { sippMissing, startSipp } from '../../../kit/sip/sipp.ts';
import { startPhones, tones, type Answering, type TrunkPhones } from '../../../kit/sip/phones.ts';
import { until } from '../../../kit/until.ts';

const calleeNumber = '+12125550100';
const deskNumber = '+12125550123';
const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0).reverse()) await thing.close();
});

/** One end of a call, far from us. */
interface Person {
  media?: MediaCall;
  call?: Call;
  readonly answering: Answering;
  /** Whether there was that pitch in what was heard lately. */
  hears(hertz: number): boolean;
  /** Makes a sound, as soon as the call is up on their side. */
  sounds(hertz: number, ms: number): Promise<void>;
  readonly keys: string[];
}

/** Answers, and tells which pitch is in what it hears. */
function person(): Person {
  const frames: Uint8Array[] = [];
  const made: Person = {
    keys: [],
    answering(call, phones) {
      void phones.pickUp(
        call,
        (media, own) => {
          made.media = media;
          made.call = own;
        },
        (_, key) => made.keys.push(key),
        (frame) => frames.push(frame),
      );
    },
    async sounds(hertz, ms) {
      await until(() => made.media !== undefined, 'the ACK');
      made.media?.play(tones([hertz], ms));
    },
    hears(hertz) {
      const recent = Buffer.concat(frames.slice(-10));
      return recent.length >= 800 && loudness(decodeG711('PCMU', recent), hertz) > 1_000;
    },
  };
  return made;
}

/** How much of a pitch is in the sound: one term of its Fourier transform. */
function loudness(samples: Int16Array, hertz: number): number {
  let [real, imaginary] = [0, 0];
  for (const [at, sample] of samples.entries()) {
    real += sample * Math.cos((2 * Math.PI * hertz * at) / 8_000);
    imaginary += sample * Math.sin((2 * Math.PI * hertz * at) / 8_000);
  }
  return (2 * Math.hypot(real, imaginary)) / samples.length;
}

/** In its loudest tenth of a second. */
function loudest(samples: Int16Array, hertz: number): number {
  const parts = Array.from({ length: Math.floor(samples.length / 800) }, (_, at) =>
    loudness(samples.subarray(at * 800, (at + 1) * 800), hertz),
  );
  return Math.max(0, ...parts);
}

const orderTo = (to: string, attemptId: string): CallOrder => ({
  attemptId,
  to,
  from: null,
  ringLimitMs: 5_000,
  locale: 'en-US',
  simulation: {
    resultSchema: { type: 'object', additionalProperties: false, properties: {}, required: [] },
    callees: [],
  },
});

interface Scene {
  readonly carrier: SipCarrier;
  readonly phones: TrunkPhones;
  readonly leg: Leg<AudioMedia>;
  transfer(over?: Partial<TransferOrder>, signal?: AbortSignal): Promise<Transferred>;
}

async function scene(
  callee: Person,
  desk: Answering,
  over: Parameters<typeof openCarrier>[1] & { readonly refer?: boolean; readonly recordMs?: number } = {},
): Promise<Scene> {
  const { refer = false, recordMs, ...options } = over;
  const phones = await startPhones({ [calleeNumber]: callee.answering, [deskNumber]: desk });
  open.push(phones);
  const carrier = await openCarrier(
    [trunkAt(phones.port, refer ? { profile: { transfer: 'refer' } } : {})],
    options,
  );
  open.push(carrier);
  const placed = await carrier.place(
    {
      ...orderTo(calleeNumber, 'att_00000000000000000000000000'),
      from: '+12025550143',
      ...(recordMs === undefined ? {} : { recordMs }),
    },
    { progress: () => undefined },
    new AbortController().signal,
  );
  if (placed.kind === 'ended') throw new Error(JSON.stringify(placed.ending));
  const { leg } = placed;
  return {
    carrier,
    phones,
    leg,
    async transfer(more = {}, signal = new AbortController().signal) {
      const order: TransferOrder = {
        transferId: 'xfer_one',
        accountId: 'acct_one',
        to: deskNumber,
        ringLimitMs: 5_000,
        mayLeave: () => true,
        ...more,
      };
      return (await leg.transfer?.(order, signal)) ?? { kind: 'failed', why: 'failed' };
    },
  };
}

const busy: Answering = (call) => call.reject(486);
const ringsOn: Answering = (call) => call.ring();
const invitesTo = ({ phones }: Scene, number: string) =>
  phones.called.filter((called) => called === number).length;

describe('over a bridge', () => {
  it('both hear each other, keys go through, and the second call shows the first one’s number', async () => {
    const [callee, desk] = [person(), person()];
    const scenario = await scene(callee, desk.answering);
    expect(await scenario.transfer()).toEqual({ kind: 'connected' });
    expect(invitesTo(scenario, deskNumber)).toBe(1);
    expect(scenario.phones.invites[1]?.from.uri).toMatchObject({ user: '+12025550143' });
    await callee.sounds(600, 3_000);
    await desk.sounds(900, 3_000);
    await until(() => desk.hears(600) && callee.hears(900), 'each hears the other');
    expect([callee.hears(600), desk.hears(900)]).toEqual([false, false]);
    callee.media?.dial('5');
    await until(() => desk.keys.length > 0, 'the key');
    expect(desk.keys).toEqual(['5']);
  });

  it('either of the two hanging up ends both calls, and so do we', async () => {
    for (const who of ['callee', 'desk', 'we'] as const) {
      const [callee, desk] = [person(), person()];
      const scenario = await scene(callee, desk.answering);
      await scenario.transfer();
      if (who === 'we') void scenario.leg.hangUp();
      else {
        await until(() => callee.call !== undefined && desk.call !== undefined, 'both calls');
        void (who === 'callee' ? callee : desk).call?.hangup();
      }
      const end = await scenario.leg.ended;
      expect(end).toMatchObject({ reason: 'hung_up', endedBy: who === 'callee' ? 'callee' : 'us' });
      await until(() => scenario.phones.live.size === 0, 'both calls are over');
    }
  });

  it('while it rings, who waits hears it ring; then no more', async () => {
    const [callee, desk] = [person(), person()];
    let answer = (): void => undefined;
    const scenario = await scene(callee, (call, phones) => {
      call.ring();
      answer = () => desk.answering(call, phones);
    });
    const transfer = scenario.transfer();
    await until(() => callee.hears(440) && callee.hears(480), 'the ringing tone');
    answer();
    expect(await transfer).toEqual({ kind: 'connected' });
    await until(() => !callee.hears(440), 'silence again', 1_500);
  });

  it.each<[string, Answering, string]>([
    ['is busy', busy, 'busy'],
    ['does not answer', ringsOn, 'no_answer'],
    ['declines', (call) => call.reject(603), 'declined'],
    ['is not there', (call) => call.reject(404), 'failed'],
    ['can not be reached by the trunk', (call) => call.reject(503), 'failed'],
  ])('a target that %s leaves the callee with us', async (_, answering, why) => {
    const callee = person();
    const scenario = await scene(callee, answering);
    expect(await scenario.transfer({ ringLimitMs: 500 })).toEqual({ kind: 'failed', why });
    scenario.leg.media.play(tones([700], 2_000));
    await until(() => callee.hears(700) && !callee.hears(440), 'our voice again, and no ringing', 1_500);
    expect(scenario.phones.live.size).toBe(1);
  });

  it('a callee who leaves while it rings ends the ringing', async () => {
    const callee = person();
    let taken = false;
    const scenario = await scene(callee, (call) => {
      call.ring();
      call.signal.addEventListener('abort', () => (taken = true));
    });
    const transfer = scenario.transfer();
    await until(() => invitesTo(scenario, deskNumber) === 1, 'the second call');
    void callee.call?.hangup();
    expect(await transfer).toEqual({ kind: 'failed', why: 'left' });
    expect(await scenario.transfer({ transferId: 'xfer_two' })).toEqual({ kind: 'failed', why: 'left' });
    await until(() => taken, 'the ringing ends');
    expect(invitesTo(scenario, deskNumber)).toBe(1);
  });

  it('a stop gives the ringing up, and nothing leaves behind it', async () => {
    const scenario = await scene(person(), ringsOn);
    const stop = new AbortController();
    const transfer = scenario.transfer({}, stop.signal);
    await until(() => invitesTo(scenario, deskNumber) === 1, 'the second call');
    stop.abort();
    expect(await transfer).toEqual({ kind: 'failed', why: 'left' });
    expect(await scenario.transfer({}, stop.signal)).toEqual({ kind: 'failed', why: 'left' });
    expect(invitesTo(scenario, deskNumber)).toBe(1);
  });

  it('is guarded as any call: foreign and own numbers, lines, limits of the day, and the right to dial', async () => {
    let lines = 1;
    let admitted = 1;
    const scenario = await scene(person(), person().answering, {
      slots: {
        prepare: async () => undefined,
        take: async () => (lines-- > 0 ? { kind: 'taken' } : { kind: 'later', inMs: 100 }),
        renew: async () => undefined,
        release: async () => undefined,
        countCall: async () => admitted-- > 0,
        addCost: async () => undefined,
        countTrunkCall: async () => undefined,
      },
    });
    expect(await scenario.transfer({ to: '+4930123456' })).toMatchObject({ why: 'not_allowed' });
    expect(await scenario.transfer({ to: '+12025550142' })).toMatchObject({ why: 'not_allowed' });
    expect(await scenario.transfer()).toMatchObject({ why: 'no_line' });
    [lines, admitted] = [1, 0];
    expect(await scenario.transfer()).toMatchObject({ why: 'not_allowed' });
    [lines, admitted] = [1, 1];
    expect(await scenario.transfer({ mayLeave: () => false })).toMatchObject({ kind: 'failed' });
    expect(invitesTo(scenario, deskNumber)).toBe(0);
    [lines, admitted] = [1, 1];
    expect(await scenario.transfer()).toEqual({ kind: 'connected' });
  });

  it('counts and charges the second call to the account, and gives its line back', async () => {
    const counted: string[] = [];
    const costs: bigint[] = [];
    const held = new Set<string>();
    const [callee, desk] = [person(), person()];
    const phones = await startPhones({ [calleeNumber]: callee.answering, [deskNumber]: desk.answering });
    open.push(phones);
    const carrier = await openCarrier([trunkAt(phones.port, { rates: [{ prefix: '+', per_minute: 60 }] })], {
      slots: {
        prepare: async () => undefined,
        async take(_, id) {
          held.add(id);
          return { kind: 'taken' };
        },
        renew: async () => undefined,
        release: async (id) => void held.delete(id),
        async countCall(account, phone) {
          counted.push(`${account} ${phone}`);
          return true;
        },
        addCost: async (_, cost) => void costs.push(cost),
        countTrunkCall: async () => undefined,
      },
    });
    open.push(carrier);
    const wish = { attemptId: 'att_one', accountId: 'acct_one', to: calleeNumber };
    const { signal } = new AbortController();
    await carrier.reserve(wish, signal);
    const placed = await carrier.place(
      orderTo(calleeNumber, 'att_one'),
      { progress: () => undefined },
      signal,
    );
    if (placed.kind === 'ended') throw new Error('not answered');
    const order = { transferId: 'xfer_one', accountId: 'acct_one', to: deskNumber, ringLimitMs: 5_000 };
    await placed.leg.transfer?.({ ...order, mayLeave: () => true }, signal);
    expect(counted).toEqual([`acct_one ${calleeNumber}`, `acct_one ${deskNumber}`]);
    expect(held).toEqual(new Set(['att_one', 'xfer_one']));
    await systemClock.sleep(50);
    await placed.leg.hangUp();
    await until(() => held.size === 0 && costs.length === 2, 'both lines and both costs');
    // A second of a minute that costs 60 costs 1; in millionths.
    expect(costs.every((cost) => cost > 10_000n)).toBe(true);
  });

  it('a recording ends when they are connected, and so does listening', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'trunkcall-transfer-'));
    open.push({ close: async () => rmSync(directory, { recursive: true }) });
    const log = new PassThrough({ encoding: 'utf8' });
    const [callee, desk] = [person(), person()];
    const scenario = await scene(callee, desk.answering, {
      recordings: { directory, retentionDays: 1 },
      recordMs: 20_000,
      log: createLog('info', log),
    });
    const { leg } = scenario;
    const heard: Uint8Array[] = [];
    leg.listenIn?.((frame) => heard.push(frame));
    const hears = (hertz: number) =>
      loudest(decodeG711('PCMU', Buffer.concat(heard.slice(-10))), hertz) > 1_000;
    await callee.sounds(600, 1_000);
    await until(() => hears(600), 'the callee');
    expect(leg.transferred?.aborted).toBe(false);
    await scenario.transfer();
    expect(leg.transferred?.aborted).toBe(true);
    const frames = heard.length;
    leg.listenIn?.((frame) => heard.push(frame));
    const path = join(directory, 'att_00000000000000000000000000.wav');
    // The header says how long it is when it is complete.
    const isComplete = (wav: Buffer) => wav.length > 44 && wav.readUInt32LE(40) === wav.length - 44;
    await until(() => isComplete(readFileSync(path)), 'the end of the recording');
    const wav = readFileSync(path);
    await callee.sounds(800, 3_000);
    await desk.sounds(1_000, 3_000);
    await until(() => desk.hears(800) && callee.hears(1_000), 'each hears the other');
    await leg.hangUp();
    await until(() => scenario.phones.live.size === 0, 'the end');
    expect(readFileSync(path).equals(wav)).toBe(true);
    const samples = new Int16Array(wav.buffer, wav.byteOffset + 44, (wav.length - 44) / 2);
    const side = (which: number) => samples.filter((_, at) => at % 2 === which);
    expect(loudest(side(0), 600)).toBeGreaterThan(500);
    for (const which of [0, 1]) {
      expect(loudest(side(which), 800)).toBeLessThan(100);
      expect(loudest(side(which), 1_000)).toBeLessThan(100);
    }
    expect(heard).toHaveLength(frames);
    expect(String(log.read() ?? '')).not.toContain('recorded');
  });
});

describe('by a REFER', () => {
  it.skipIf(sippMissing).each([
    ['200 OK', { kind: 'connected' }],
    ['486 Busy Here', { kind: 'failed', why: 'busy' }],
    ['480 Temporarily Unavailable', { kind: 'failed', why: 'no_answer' }],
    ['503 Service Unavailable', { kind: 'failed', why: 'failed' }],
  ])('to a trunk that tells of %s', async (status, outcome) => {
    const folder = mkdtempSync(join(tmpdir(), 'trunkcall-refer-'));
    open.push({ close: async () => rmSync(folder, { recursive: true }) });
    const told = new URL('../../../../../sip/test/peers/scenarios/referred.xml', import.meta.url);
    writeFileSync(join(folder, 'trunk.xml'), readFileSync(told, 'utf8').replaceAll('@status@', status));
    const sipp = await startSipp(join(folder, 'trunk.xml'));
    open.push(sipp);
    const carrier = await openCarrier([trunkAt(sipp.port, { profile: { transfer: 'refer' } })]);
    open.push(carrier);
    const { signal } = new AbortController();
    const placed = await carrier.place(
      orderTo(calleeNumber, 'att_one'),
      { progress: () => undefined },
      signal,
    );
    if (placed.kind === 'ended') throw new Error(JSON.stringify(placed.ending));
    const order = { transferId: 'xfer_one', accountId: 'acct_one', to: deskNumber, ringLimitMs: 10_000 };
    expect(await placed.leg.transfer?.({ ...order, mayLeave: () => true }, signal)).toEqual(outcome);
    expect(placed.leg.transferred?.aborted).toBe(outcome.kind === 'connected');
    // Connected, it is the trunk's call; else the callee is still with us.
    if (outcome.kind === 'failed') void placed.leg.hangUp();
    expect(await placed.leg.ended).toMatchObject({ reason: 'hung_up', endedBy: 'us' });
  });

  it('keeps the callee when the trunk will not do it, and dials nobody itself', async () => {
    const callee = person();
    const scenario = await scene(callee, person().answering, { refer: true });
    expect(await scenario.transfer()).toEqual({ kind: 'failed', why: 'failed' });
    // What must not be called is not asked for either.
    for (const to of ['+12025550142', '+4930123456', '+19005550100'])
      expect(await scenario.transfer({ to })).toEqual({ kind: 'failed', why: 'not_allowed' });
    expect(invitesTo(scenario, deskNumber)).toBe(0);
    scenario.leg.media.play(tones([700], 1_000));
    await until(() => callee.hears(700), 'the call goes on');
  });
});
