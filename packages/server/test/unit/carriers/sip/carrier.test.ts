import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  createUserAgent,
  openNetwork,
  transcodeG711,
  type Call,
  type LocalMedia,
  type MediaCall,
} from '@trunkcall/sip';
import { afterEach, describe, expect, it } from 'vitest';
import type { AudioMedia, CallOrder, Leg } from '../../../../src/carriers/carrier.ts';
import type { SipCarrier } from '../../../../src/carriers/sip/sip-carrier.ts';
import { openCarrier, sipSettings, trunkAt } from '../../../kit/sip/carrier.ts';
import { silence, startPhones, tones, type Answering, type TrunkPhones } from '../../../kit/sip/phones.ts';
import { until } from '../../../kit/until.ts';

const number = '+12125550100';
const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const thing of open.splice(0).reverse()) await thing.close();
});

/** Media in clear at a port where nobody listens. */
const clear: LocalMedia = {
  address: '127.0.0.1',
  port: 9,
  codecs: ['PCMU'],
  telephoneEvents: false,
  srtp: 'never',
  rtcpMux: false,
};

const answers: Answering = (call, phones) => void phones.pickUp(call);

async function phonesThat(answering: Answering): Promise<TrunkPhones> {
  const phones = await startPhones({ [number]: answering });
  open.push(phones);
  return phones;
}

async function carrierTo(...parameters: Parameters<typeof openCarrier>): Promise<SipCarrier> {
  const carrier = await openCarrier(...parameters);
  open.push(carrier);
  return carrier;
}

function place(carrier: SipCarrier, over: Partial<CallOrder> = {}, steps: string[] = []) {
  const order: CallOrder = {
    attemptId: 'att_carrier',
    to: number,
    from: null,
    ringLimitMs: 5_000,
    locale: 'en-US',
    simulation: {
      resultSchema: { type: 'object', additionalProperties: false, properties: {}, required: [] },
      callees: [],
    },
    ...over,
  };
  return carrier.place(order, { progress: (step) => steps.push(step) }, new AbortController().signal);
}

async function answered(carrier: SipCarrier, over: Partial<CallOrder> = {}): Promise<Leg<AudioMedia>> {
  const placed = await place(carrier, over);
  if (placed.kind === 'ended') throw new Error(JSON.stringify(placed.ending));
  return placed.leg;
}

describe('the INVITE', () => {
  it.each([
    [null, '+12025550142'],
    ['+12025550143', '+12025550143'],
    ['+12025559999', '+12025550142'],
  ])('for a caller %s shows %s: one of the trunk’s numbers', async (from, shown) => {
    const phones = await phonesThat(answers);
    await answered(await carrierTo([trunkAt(phones.port)]), { from });
    const [invite] = phones.invites;
    expect(invite?.from.uri).toMatchObject({ user: shown });
    expect(invite?.headers.has('X-Trunkcall-Attempt')).toBe(false);
  });

  it('carries the number as asserted identity and the attempt’s id where the trunk wants that', async () => {
    const phones = await phonesThat(answers);
    const carrier = await carrierTo([
      trunkAt(phones.port, {
        caller_id: 'p_asserted_identity',
        send_attempt_id: true,
        domain: 'acme.example.com',
        credentials: { username: 'acme', password: 'hush' },
      }),
    ]);
    await answered(carrier);
    const [invite] = phones.invites;
    expect(invite?.from.uri).toMatchObject({ user: 'acme', host: 'acme.example.com' });
    expect(invite?.headers.get('P-Asserted-Identity')).toBe('<sip:+12025550142@acme.example.com>');
    expect(invite?.headers.get('X-Trunkcall-Attempt')).toBe('att_carrier');
  });

  it('does not leave for a number that the guard forbids', async () => {
    const phones = await phonesThat(answers);
    const carrier = await carrierTo([trunkAt(phones.port)]);
    expect(carrier.forbids('+8816123456789')).toMatch(/satellite/);
    const steps: string[] = [];
    // A satellite telephone, and a number of the trunk itself.
    for (const to of ['+8816123456789', '+12025550142']) {
      expect(await place(carrier, { to }, steps)).toMatchObject({
        kind: 'ended',
        ending: { outcome: 'carrier_error', endedBy: 'us' },
      });
    }
    const wish = { attemptId: 'a', accountId: 'b', to: '+8816123456789' };
    expect(await carrier.reserve(wish, new AbortController().signal)).toEqual({
      kind: 'refused',
      why: 'not_allowed',
    });
    expect([steps, phones.called]).toEqual([[], []]);
  });
});

describe('the sound', () => {
  it('stays in the law of the answer when the far end changes the codec', async () => {
    let far: { readonly media: MediaCall; readonly call: Call } | undefined;
    const phones = await phonesThat(
      (incoming, trunk) => void trunk.pickUp(incoming, (media, call) => (far = { media, call })),
    );
    const leg = await answered(await carrierTo([trunkAt(phones.port)]));
    const frames: Uint8Array[] = [];
    leg.media.listen({
      frame: (frame) => frames.push(frame),
      key: () => undefined,
      beep: () => undefined,
      informationTone: () => undefined,
    });
    await until(() => far !== undefined, 'the far end’s call');
    if (far === undefined) throw new Error('no call');
    far.media.play(new Uint8Array(8_000).fill(0x8f));
    await until(() => frames.some((frame) => frame.every((code) => code === 0x8f)), 'sound in µ-law');

    const local = { ...clear, port: far.media.port, codecs: ['PCMA'] as const };
    const agreed = await far.call.renegotiate({ local });
    expect(agreed).toMatchObject({ kind: 'agreed', media: { codec: 'PCMA' } });
    expect(leg.media.law).toBe('mu');
    far.media.play(new Uint8Array(8_000).fill(0xaa));
    const [heard] = transcodeG711('PCMA', 'PCMU', Uint8Array.of(0xaa));
    await until(() => frames.some((frame) => frame.every((code) => code === heard)), 'the same in µ-law');
    expect(leg.media.play(new Uint8Array(160).fill(0x8f))).toBe(true);
    expect(await leg.media.mark()).toBe('played');
  });

  it('that stops ends the call as lost', async () => {
    // Answers, says where its audio would be, and sends none.
    const phones = await phonesThat((call) => {
      void call.accept({ media: clear });
    });
    const carrier = await carrierTo([trunkAt(phones.port)], {
      sip: { ...sipSettings, media_silence_seconds: 1 },
    });
    const leg = await answered(carrier);
    expect(await leg.ended).toMatchObject({ reason: 'media_failed', endedBy: 'carrier' });
  });

  it('is encrypted where the trunk requires it, or there is no call', async () => {
    const secure = await phonesThat(answers);
    const carrier = await carrierTo([trunkAt(secure.port, { srtp: 'required' })]);
    const leg = await answered(carrier);
    await until(() => secure.live.size === 1, 'the far end’s call');
    expect([...secure.live][0]?.media?.srtp).toBeDefined();
    await leg.hangUp();

    const open = await phonesThat((incoming) => {
      void incoming.accept({ media: clear });
    });
    const other = await carrierTo([trunkAt(open.port, { srtp: 'required' })]);
    expect(await place(other)).toMatchObject({ kind: 'ended', ending: { outcome: 'carrier_error' } });
  });
});

describe('before the answer', () => {
  /** 183 with sound, for as long as it takes; then nobody is there. */
  const announces =
    (audio: Uint8Array): Answering =>
    (call, phones) =>
      void phones.announce(call, audio).then(() => call.reject(480));

  it('a ringing tone in early media counts as ringing', async () => {
    const steps: string[] = [];
    const ring = Buffer.concat([tones([440, 480], 1_000), silence(1_300)]);
    // Nobody is there as soon as it was heard, however late the sound comes and whatever is lost of it.
    const phones = await phonesThat((call, phones) => {
      const rung = phones.announce(call, Buffer.concat(Array.from({ length: 6 }, () => ring)));
      const heard = until(() => steps.includes('ringing'), 'the ringing tone', 30_000);
      void Promise.race([rung, heard]).then(() => call.reject(480));
    });
    const placed = await place(await carrierTo([trunkAt(phones.port)]), { ringLimitMs: 20_000 }, steps);
    expect(steps).toEqual(['trying', 'ringing']);
    expect(placed).toMatchObject({ kind: 'ended', ending: { outcome: 'ring_timeout', sipStatus: 480 } });
  });

  it('any other early media does not', async () => {
    const steps: string[] = [];
    const phones = await phonesThat(announces(tones([700], 1_000)));
    await place(await carrierTo([trunkAt(phones.port)]), {}, steps);
    expect(steps).toEqual(['trying']);
  });
});

it('a TLS trunk must prove itself to the authorities that are named for it', async () => {
  const certificate = (name: string) =>
    fileURLToPath(new URL(`../../../kit/certificates/${name}.pem`, import.meta.url));
  const phones = await startPhones({ [number]: answers }, 'tls', {
    certificate: readFileSync(certificate('receiver'), 'utf8'),
    key: readFileSync(certificate('receiver-key'), 'utf8'),
  });
  open.push(phones);
  const proxy = { host: '127.0.0.1', port: phones.port, transport: 'tls' } as const;
  const trusting = await carrierTo([trunkAt(0, { proxy, tls: { ca_file: certificate('authority') } })]);
  await answered(trusting);
  const wary = await carrierTo([trunkAt(0, { proxy })]);
  expect(await place(wary)).toMatchObject({
    kind: 'ended',
    ending: { outcome: 'carrier_error', note: 'the trunk could not be reached' },
  });
  const lost = openCarrier([trunkAt(0, { proxy, tls: { ca_file: '/nonexistent/ca.pem' } })]);
  await expect(lost).rejects.toThrow('trunk north: tls.ca_file can not be read');
});

describe('a call that comes in', () => {
  async function dialIn(carrier: SipCarrier, user: string): Promise<number | undefined> {
    const network = await openNetwork({ listen: [{ transport: 'udp', address: '127.0.0.1', port: 0 }] });
    const stranger = createUserAgent({ network });
    open.push(stranger);
    const outcome = await stranger.call({
      to: `sip:${user}@${carrier.address}`,
      from: 'sip:somebody@127.0.0.1',
      media: clear,
    }).outcome;
    return outcome.kind === 'ended' ? outcome.sipStatus : undefined;
  }

  it('from an address that no trunk allows is forbidden', async () => {
    const carrier = await carrierTo([trunkAt(9, { inbound: ['192.0.2.0/24', '2001:db8::/32'] })]);
    expect(await dialIn(carrier, '+12025550142')).toBe(403);
  });

  it('from a trunk is put off while nobody takes calls yet, so that another process may', async () => {
    const carrier = await carrierTo([trunkAt(9, { inbound: ['127.0.0.0/8'] })]);
    expect(await dialIn(carrier, '+12025550142')).toBe(503);
    expect(await dialIn(carrier, '+12025550199')).toBe(503);
  });

  it('for a number that nobody knows is refused: 480 for a number of the trunk, else 404', async () => {
    const carrier = await carrierTo([trunkAt(9, { inbound: ['127.0.0.0/8'] })]);
    carrier.onIncoming((call) => call.reject({ reason: 'unknown_number', retryAfterSeconds: null }));
    expect(await dialIn(carrier, '+12025550142')).toBe(480);
    expect(await dialIn(carrier, '+12025550199')).toBe(404);
  });

  it('without media in common is refused with 488, and nobody is asked', async () => {
    const carrier = await carrierTo([trunkAt(9, { inbound: ['127.0.0.1'], srtp: 'required' })]);
    carrier.onIncoming(() => {
      throw new Error('asked');
    });
    expect(await dialIn(carrier, '+12025550142')).toBe(488);
  });

  it('beyond the rate of its trunk is put off, and nobody is asked', async () => {
    const carrier = await carrierTo([trunkAt(9, { inbound: ['127.0.0.1'], calls_per_second: 0.1 })]);
    let taken = 0;
    carrier.onIncoming((call) => {
      taken += 1;
      call.reject({ reason: 'busy', retryAfterSeconds: null });
    });
    const statuses = await Promise.all(Array.from({ length: 14 }, () => dialIn(carrier, '+12025550142')));
    expect(statuses.filter((status) => status === 486)).toHaveLength(10);
    expect(statuses.filter((status) => status === 503)).toHaveLength(4);
    expect(taken).toBe(10);
    carrier.onIncoming(null);
    expect(await dialIn(carrier, '+12025550142')).toBe(503);
  });

  it('from a trunk goes to whoever takes it, with its trunk', async () => {
    const taken: string[] = [];
    const carrier = await carrierTo([trunkAt(9, { inbound: ['127.0.0.1'] })]);
    carrier.onIncoming((call) => {
      taken.push(call.trunk ?? '');
      call.reject({ reason: 'busy', retryAfterSeconds: null });
    });
    expect(await dialIn(carrier, '+12025550142')).toBe(486);
    expect(taken).toEqual(['north']);
  });
});

it('a trunk that wants registration is used once it is registered', async () => {
  const phones = await phonesThat(answers);
  const carrier = await carrierTo([
    trunkAt(phones.port, {
      registrar: { host: '127.0.0.1', port: phones.port },
      credentials: { username: 'acme', password: 'hush' },
    }),
  ]);
  // The far end is no registrar: it answers REGISTER with 405.
  const wish = { attemptId: 'att_1', accountId: 'acc_1', to: number };
  expect(await carrier.reserve(wish, new AbortController().signal)).toMatchObject({ kind: 'later' });
  expect(await place(carrier)).toMatchObject({ kind: 'ended', ending: { outcome: 'carrier_error' } });
  expect(phones.called).toEqual([]);
});
