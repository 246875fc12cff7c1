/** Whole calls between two user agents over real sockets: each transport, and UDP that loses packets. */

import { describe, expect, test } from 'vitest';
import type {
  Answered,
  CallOptions,
  CallOutcome,
  IncomingCall,
  LocalMedia,
  TransportName,
} from '../../src/index.ts';
import { mediaAt, openAgent, type TestAgent, type TestAgentOptions, until } from '../kit/agents.ts';
import { SeededRandom } from '../kit/seeded-random.ts';
import { loseSome } from '../kit/tapped-network.ts';

interface Medium {
  readonly name: string;
  readonly transport: TransportName;
  readonly loss: number;
  readonly address?: string;
}

const MEDIA: readonly Medium[] = [
  { name: 'UDP', transport: 'udp', loss: 0 },
  { name: 'UDP over IPv6', transport: 'udp', loss: 0, address: '::1' },
  { name: 'UDP losing 30 % of the packets', transport: 'udp', loss: 0.3 },
  { name: 'TCP', transport: 'tcp', loss: 0 },
  { name: 'TLS', transport: 'tls', loss: 0 },
];

interface Pair extends AsyncDisposable {
  readonly caller: TestAgent;
  readonly callee: TestAgent;
  call(options?: Partial<CallOptions>): ReturnType<TestAgent['agent']['call']>;
}

async function connect(pair: Pair, options: Partial<CallOptions> = {}): Promise<Answered> {
  return answered(await pair.call(options).outcome);
}

describe.each(MEDIA)('over $name', ({ transport, loss, address = '127.0.0.1' }) => {
  async function openPair(
    onInvite: (call: IncomingCall) => void,
    options: { caller?: TestAgentOptions; callee?: TestAgentOptions } = {},
  ): Promise<Pair> {
    const caller = await openAgent({ transport, address, ...options.caller });
    const callee = await openAgent({ transport, address, onInvite, ...options.callee });
    const random = new SeededRandom(7);
    if (loss > 0) for (const { network } of [caller, callee]) network.judge = loseSome(loss, random);
    return {
      caller,
      callee,
      call: (more = {}) =>
        caller.agent.call({
          to: callee.uri('bob'),
          from: caller.uri('alice'),
          media: mediaAt(40_000),
          ...more,
        }),
      async [Symbol.asyncDispose]() {
        await Promise.all([caller[Symbol.asyncDispose](), callee[Symbol.asyncDispose]()]);
      },
    };
  }

  test('a call is answered, and the caller’s BYE ends it on both sides', async () => {
    const sides: CallOutcome[] = [];
    await using pair = await openPair((call) => {
      call.ring();
      void call.accept({ media: mediaAt(50_000) }).then((outcome) => sides.push(outcome));
    });
    const progress: number[] = [];
    const { call, media } = await connect(pair, { onProgress: ({ status }) => progress.push(status) });
    expect(media).toMatchObject({ remotePort: 50_000, codec: 'PCMU', direction: 'sendrecv' });
    await until(() => sides.length === 1, 'the callee sees the ACK');
    const callee = answered(sides[0]);
    expect(callee.media).toMatchObject({ remotePort: 40_000, codec: 'PCMU' });
    expect(await call.hangup({ protocol: 'Q.850', cause: 16, text: 'Normal "clearing"' })).toMatchObject({
      by: 'local',
      reason: 'hangup',
    });
    expect(await callee.call.ended).toMatchObject({ by: 'remote', reason: 'hangup', q850: 16 });
    // An unreliable 180 may be lost for good.
    expect(loss > 0 || progress.includes(180)).toBe(true);
    await until(
      () => pair.caller.agent.stats().dialogs + pair.callee.agent.stats().dialogs === 0,
      'no dialog is left',
    );
  });

  test('the callee’s BYE ends the call on both sides', async () => {
    await using pair = await openPair((call) => {
      void call.accept({ media: mediaAt(50_000) }).then((outcome) => answered(outcome).call.hangup());
    });
    const { call } = await connect(pair);
    expect(await call.ended).toMatchObject({ by: 'remote', reason: 'hangup' });
  });

  test('early media of a 183 is agreed on before the answer', async () => {
    let ringing: IncomingCall | undefined;
    await using pair = await openPair((call) => {
      ringing = call;
      expect(call.progress(mediaAt(50_002))).toMatchObject({ remotePort: 40_000 });
    });
    const early: (number | undefined)[] = [];
    const outcome = pair.call({ onProgress: ({ media }) => early.push(media?.remotePort) }).outcome;
    // An unreliable 183 may be lost for good.
    if (loss === 0) await until(() => early.length === 1, 'the 183 arrives');
    else await until(() => ringing !== undefined, 'the INVITE arrives');
    await ringing?.accept({ media: mediaAt(50_002) });
    expect(answered(await outcome).media.remotePort).toBe(50_002);
    expect(loss > 0 || early.includes(50_002)).toBe(true);
  });

  test('reliable provisional responses arrive in order, each acknowledged by PRACK', async () => {
    await using pair = await openPair((call) => {
      call.ring();
      call.progress(mediaAt(50_002));
      setTimeout(() => void call.accept({ media: mediaAt(50_002) }), 300);
    });
    const progress: number[] = [];
    const { media } = await connect(pair, {
      headers: [['Require', '100rel']],
      onProgress: ({ status }) => progress.push(status),
    });
    expect(progress).toEqual([180, 183]);
    expect(media.remotePort).toBe(50_002);
    expect(pair.caller.network.log().filter((line) => line === 'PRACK')).toHaveLength(2);
    const final = pair.callee.network.sent.find(
      (message) => message.kind === 'response' && message.status === 200 && message.cseq.method === 'INVITE',
    );
    expect(final?.body.length, 'the answer is not repeated in the 2xx').toBe(0);
  });

  test('a call that is accepted before its provisional responses are acknowledged still gets its answer', async () => {
    await using pair = await openPair((call) => {
      call.ring();
      // This one waits behind the PRACK of the 180, and is out of date by then.
      call.progress(mediaAt(50_002));
      void call.accept({ media: mediaAt(50_002) });
    });
    const { media } = await connect(pair, { headers: [['Require', '100rel']] });
    expect(media.remotePort).toBe(50_002);
  });

  test('a refusal is told with its status and its Q.850 cause', async () => {
    await using pair = await openPair((call) =>
      call.reject(486, { headers: [['Reason', 'Q.850;cause=17;text="User busy"']] }),
    );
    expect(await pair.call().outcome).toMatchObject({
      by: 'remote',
      reason: 'rejected',
      sipStatus: 486,
      q850: 17,
    });
  });

  test('the ring limit cancels the call', async () => {
    let inbound: IncomingCall | undefined;
    await using pair = await openPair((call) => {
      inbound = call;
      call.ring();
    });
    const outcome = await pair.call({ ringLimitMs: 400 }).outcome;
    expect(outcome).toMatchObject({ by: 'local', reason: 'ring_limit' });
    await until(() => inbound?.signal.aborted === true, 'the callee sees the CANCEL');
    expect(await inbound?.outcome).toMatchObject({ by: 'remote', reason: 'cancelled' });
  });

  test('an aborted signal cancels a call that rings, with the Reason of the cancellation', async () => {
    await using pair = await openPair((call) => call.ring());
    const stop = new AbortController();
    const call = pair.call({ signal: stop.signal });
    await until(() => pair.caller.network.received.length > 0, 'a response arrives');
    stop.abort();
    expect(await call.outcome).toMatchObject({ by: 'local', reason: 'aborted' });
  });

  test('an answer that crosses the CANCEL is acknowledged and ended with BYE', async () => {
    const ends: CallOutcome[] = [];
    await using pair = await openPair((call) => {
      call.ring();
      // The answer leaves when the caller has already decided to cancel: its CANCEL is lost for a while.
      pair.caller.network.judge = (message) =>
        message.kind === 'request' && message.method === 'CANCEL' ? 'lose' : 'deliver';
      setTimeout(() => {
        outgoing.cancel({ protocol: 'SIP', cause: 487 });
        void call.accept({ media: mediaAt(50_000) }).then((outcome) => ends.push(outcome));
      }, 50);
    });
    const outgoing = pair.call();
    expect(await outgoing.outcome).toMatchObject({ by: 'local', reason: 'cancelled' });
    await until(() => ends.length === 1, 'the callee sees the ACK');
    expect(await answered(ends[0]).call.ended).toMatchObject({ by: 'remote', reason: 'hangup' });
    expect(pair.caller.network.log().filter((line) => line !== 'CANCEL')).toEqual(['INVITE', 'ACK', 'BYE']);
  });

  test('hold and resume change the direction on both sides', async () => {
    const directions: string[] = [];
    await using pair = await openPair((call) => {
      void call.accept({ media: mediaAt(50_000), onMedia: ({ direction }) => directions.push(direction) });
    });
    const { call } = await connect(pair);
    expect(await call.hold()).toMatchObject({ kind: 'agreed', media: { direction: 'sendonly' } });
    expect(await call.resume()).toMatchObject({ kind: 'agreed', media: { direction: 'sendrecv' } });
    expect(directions).toEqual(['sendrecv', 'recvonly', 'sendrecv']);
  });

  test('either side can move its media with UPDATE or re-INVITE', async () => {
    const ports: number[] = [];
    const sides: CallOutcome[] = [];
    await using pair = await openPair((call) => {
      void call
        .accept({ media: mediaAt(50_000), onMedia: (m) => ports.push(m.remotePort) })
        .then((o) => sides.push(o));
    });
    const moved: number[] = [];
    const { call } = await connect(pair, { onMedia: (m) => moved.push(m.remotePort) });
    const local: LocalMedia = mediaAt(40_010);
    expect(await call.renegotiate({ local }, 'UPDATE')).toMatchObject({ kind: 'agreed' });
    await until(() => sides.length === 1, 'the callee is connected');
    expect(await answered(sides[0]).call.renegotiate({ local: mediaAt(50_010) })).toMatchObject({
      kind: 'agreed',
    });
    expect(ports).toEqual([40_000, 40_010, 40_010]);
    expect(moved).toEqual([50_000, 50_000, 50_010]);
  });

  test('INFO carries its content to the other side', async () => {
    const seen: string[] = [];
    await using pair = await openPair((call) => {
      void call.accept({
        media: mediaAt(50_000),
        onInfo: ({ contentType, body }) => seen.push(`${contentType} ${body}`),
      });
    });
    const { call } = await connect(pair);
    expect(await call.sendInfo({ contentType: 'application/dtmf-relay', body: 'Signal=5' })).toBe(200);
    expect(seen).toEqual(['application/dtmf-relay Signal=5']);
  });

  test('a repeated 2xx gets its ACK again', async () => {
    await using pair = await openPair((call) => void call.accept({ media: mediaAt(50_000) }));
    let lost = 0;
    pair.caller.network.judge = (message) =>
      message.kind === 'request' && message.method === 'ACK' && (lost += 1) <= 2 ? 'lose' : 'deliver';
    const { call } = await connect(pair);
    await until(() => lost >= 3, 'the third ACK leaves');
    expect(await call.hangup()).toMatchObject({ reason: 'hangup' });
    const acks = pair.caller.network.sent.filter(
      (message) => message.kind === 'request' && message.method === 'ACK',
    );
    expect(new Set(acks.map(({ via }) => via[0]?.params.get('branch'))).size, 'the same ACK every time').toBe(
      1,
    );
  });

  test('an agent answers OPTIONS with what it can do', async () => {
    await using pair = await openPair(() => undefined);
    const states: string[] = [];
    pair.caller.agent.monitor({
      uri: pair.callee.uri('').replace(':@', ':'),
      from: pair.caller.uri('alice'),
      onChange: (state) => states.push(state),
    });
    await until(() => states.length === 1, 'the trunk is seen');
    expect(states).toEqual(['up']);
  });
});

function answered(outcome: CallOutcome | undefined): Answered {
  if (outcome?.kind !== 'answered') throw new Error(`not answered: ${JSON.stringify(outcome)}`);
  return outcome;
}
