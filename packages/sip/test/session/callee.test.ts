/** What an agent says to whoever sends it something: scripted peers over UDP. */

import { describe, expect, test } from 'vitest';
import type { CallOutcome, IncomingCall } from '../../src/index.ts';
import { tagOf } from '../../src/message/address.ts';
import { parseSessionExpires } from '../../src/message/fields.ts';
import type { SipResponse } from '../../src/message/message.ts';
import { mediaAt, openAgent, type TestAgentOptions, until } from '../kit/agents.ts';
import { PEER_SDP, RawPeer } from '../kit/raw-peer.ts';

async function open(options: TestAgentOptions = {}) {
  const peer = await RawPeer.open();
  const callee = await openAgent(options);
  return {
    peer,
    callee,
    /** Sends a request from outside of any call and waits for the final answer. */
    async ask(...[method, to, more]: Parameters<RawPeer['request']>): Promise<SipResponse> {
      const request = peer.request(method, to, more);
      peer.send(request, callee.port);
      await until(() => answersTo(peer, method).length > 0, `an answer to ${method}`);
      const [answer] = answersTo(peer, method);
      if (answer === undefined) throw new Error('no answer');
      return answer;
    },
    async [Symbol.asyncDispose]() {
      await callee[Symbol.asyncDispose]();
      await peer[Symbol.asyncDispose]();
    },
  };
}

function answersTo(peer: RawPeer, method: string): SipResponse[] {
  return peer.received.filter(
    (message): message is SipResponse =>
      message.kind === 'response' && message.cseq.method === method && message.status >= 200,
  );
}

describe('outside of calls', () => {
  test.each<[string, number]>([
    ['OPTIONS', 200],
    ['REFER', 405],
    ['REGISTER', 405],
    ['SUBSCRIBE', 405],
    ['MESSAGE', 405],
    ['FOO', 405],
    ['BYE', 481],
    ['CANCEL', 481],
    ['UPDATE', 481],
    ['INFO', 481],
    ['PRACK', 481],
    ['NOTIFY', 481],
  ])('%s is answered with %i', async (method, status) => {
    await using it = await open();
    const answer = await it.ask(method, it.callee.uri('bob'));
    expect(answer.status).toBe(status);
    expect(tagOf(answer.to)).toBeDefined();
    const allowed = answer.headers.get('Allow') ?? '';
    expect(allowed.includes('REFER')).toBe(false);
    expect(allowed.includes('INVITE')).toBe(status === 405 || method === 'OPTIONS');
  });

  test('a request that claims a dialog which does not exist gets 481', async () => {
    await using it = await open();
    expect((await it.ask('BYE', it.callee.uri('bob'), { toTag: 'nothing' })).status).toBe(481);
    expect((await it.ask('INVITE', it.callee.uri('bob'), { toTag: 'nothing', sdp: PEER_SDP })).status).toBe(
      481,
    );
  });

  test('a malformed request gets 400, a malformed ACK and a malformed response nothing', async () => {
    await using it = await open();
    const text = (method: string): string =>
      [
        `${method} sip:bob@h; lr SIP/2.0`,
        `Via: SIP/2.0/UDP 127.0.0.1:${it.peer.port};branch=z9hG4bK${method}`,
        'From: <sip:a@h>;tag=1',
        'To: <sip:b@h>',
        'Call-ID: m',
        `CSeq: 1 ${method}`,
        '',
        '',
      ].join('\r\n');
    it.peer.send(text('ACK'), it.callee.port);
    it.peer.send('SIP/2.0 99 No\r\n\r\n', it.callee.port);
    it.peer.send('\u0000\u0001garbage', it.callee.port);
    it.peer.send(text('OPTIONS'), it.callee.port);
    await it.peer.until('400 OPTIONS');
    expect(it.peer.log()).toEqual(['400 OPTIONS']);
    expect(it.callee.agent.stats().dropped).toBe(2);
  });

  test('the answer goes to where the request came from, and says so', async () => {
    await using it = await open();
    const request = it.peer.request('OPTIONS', it.callee.uri('bob'));
    const [via] = request.via;
    if (via === undefined) throw new Error('no Via');
    it.peer.send({ ...request, via: [{ ...via, host: 'behind.nat.test', port: 9 }] }, it.callee.port);
    const answer = (await it.peer.until('200 OPTIONS')) as SipResponse;
    expect(answer.via[0]?.params.get('received')).toBe('127.0.0.1');
    expect(answer.via[0]?.params.get('rport')).toBe(String(it.peer.port));
  });
});

describe('an INVITE', () => {
  test('from a source that nobody allows gets 403 a few times, then silence, and costs no memory', async () => {
    await using it = await open({ allowSource: () => false, admission: { burst: 3, perSecond: 0 } });
    for (let n = 1; n <= 10; n += 1)
      it.peer.send(
        it.peer.request('INVITE', it.callee.uri('bob'), { callId: `scan${n}`, sdp: PEER_SDP }),
        it.callee.port,
      );
    await until(() => it.callee.network.received.length >= 10, 'all arrive');
    await until(
      () => new Set(answersTo(it.peer, 'INVITE').map(({ callId }) => callId)).size === 3,
      'three answers',
    );
    expect(answersTo(it.peer, 'INVITE').every(({ status }) => status === 403)).toBe(true);
    await until(() => it.callee.agent.stats().transactions === 0, 'no transaction is left');
    expect(new Set(answersTo(it.peer, 'INVITE').map(({ callId }) => callId)).size).toBe(3);
  });

  test.each<[string, number, Parameters<RawPeer['request']>[2]]>([
    ['demands an extension that we lack', 420, { lines: [['Require', 'precondition']] }],
    [
      'brings a body that is no session description',
      415,
      { lines: [['Content-Type', 'text/plain']], sdp: 'hello' },
    ],
    ['takes no session description back', 406, { lines: [['Accept', 'text/plain']] }],
    [
      'wants a session interval below ours',
      422,
      {
        lines: [
          ['Session-Expires', '60'],
          ['Supported', 'timer'],
        ],
        sdp: PEER_SDP,
      },
    ],
    ['has no codec that we have', 488, { sdp: PEER_SDP.replace('AVP 0', 'AVP 18') }],
    ['demands SRTP that the handler does not give', 488, { sdp: PEER_SDP.replace('RTP/AVP', 'RTP/SAVP') }],
    ['comes by a malformed route', 400, { lines: [['Record-Route', '<sip:a']], sdp: PEER_SDP }],
  ])('that %s gets %i', async (_, status, more) => {
    await using it = await open({ onInvite: (call) => void call.accept({ media: mediaAt(50_000) }) });
    const { lines = [], sdp = '' } = more ?? {};
    const request = it.peer.request('INVITE', it.callee.uri('bob'), { lines });
    it.peer.send({ ...request, ...withBody(request, sdp) }, it.callee.port);
    await until(() => answersTo(it.peer, 'INVITE').length > 0, 'an answer');
    expect(answersTo(it.peer, 'INVITE')[0]?.status).toBe(status);
    await until(() => it.callee.agent.stats().dialogs === 0, 'no dialog is left');
  });

  test('to an agent without a handler gets 480, to one that is full 503 with Retry-After', async () => {
    await using deaf = await open();
    expect((await deaf.ask('INVITE', deaf.callee.uri('bob'), { sdp: PEER_SDP })).status).toBe(480);
    await using full = await open({ maxDialogs: 0, onInvite: () => undefined });
    const answer = await full.ask('INVITE', full.callee.uri('bob'), { sdp: PEER_SDP });
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, '10']);
  });

  test('that came over two paths rings once: the second copy gets 482', async () => {
    const calls: IncomingCall[] = [];
    await using it = await open({ onInvite: (call) => calls.push(call) });
    const copy = (branch: string) =>
      it.peer.request('INVITE', it.callee.uri('bob'), { sdp: PEER_SDP, branch });
    it.peer.send(copy('z9hG4bKone'), it.callee.port);
    it.peer.send(copy('z9hG4bKtwo'), it.callee.port);
    await it.peer.until('482 INVITE');
    expect(calls).toHaveLength(1);
  });

  test('that the handler forgets is refused when the ring limit passes', async () => {
    const ends: CallOutcome[] = [];
    await using it = await open({
      inboundRingLimitMs: 50,
      onInvite: (call) => void call.outcome.then((end) => ends.push(end)),
    });
    expect((await it.ask('INVITE', it.callee.uri('bob'), { sdp: PEER_SDP })).status).toBe(480);
    expect(ends).toMatchObject([{ by: 'local', reason: 'ring_limit' }]);
  });

  test('without an offer gets ours in the 2xx, and the answer comes with the ACK', async () => {
    const outcomes: CallOutcome[] = [];
    await using it = await open({
      onInvite: (call) => void call.accept({ media: mediaAt(50_000) }).then((end) => outcomes.push(end)),
    });
    const answer = await it.ask('INVITE', it.callee.uri('bob'));
    expect(answer.body.toString()).toContain('m=audio 50000 RTP/AVP 0 8 101');
    it.peer.send(
      { ...it.peer.request('ACK', it.callee.uri('bob'), { sdp: PEER_SDP }), to: answer.to },
      it.callee.port,
    );
    await until(() => outcomes.length > 0, 'the call is up');
    expect(outcomes[0]).toMatchObject({ kind: 'answered', media: { remotePort: 55_000, codec: 'PCMU' } });
  });

  test.each(['without', 'with an unusable'])(
    'whose ACK comes %s answer to our offer is ended with BYE',
    async (kind) => {
      const outcomes: CallOutcome[] = [];
      await using it = await open({
        onInvite: (call) => void call.accept({ media: mediaAt(50_000) }).then((end) => outcomes.push(end)),
      });
      const answer = await it.ask('INVITE', it.callee.uri('bob'));
      const sdp = kind === 'without' ? '' : PEER_SDP.replace('AVP 0', 'AVP 18');
      it.peer.send(
        { ...it.peer.request('ACK', it.callee.uri('bob'), { sdp }), to: answer.to },
        it.callee.port,
      );
      const bye = await it.peer.untilRequest('BYE');
      it.peer.answer(bye, 200);
      expect(outcomes).toMatchObject([{ by: 'local', reason: 'media_refused' }]);
    },
  );

  test('whose answer is never acknowledged is ended with BYE', async () => {
    const outcomes: CallOutcome[] = [];
    await using it = await open({
      onInvite: (call) => void call.accept({ media: mediaAt(50_000) }).then((end) => outcomes.push(end)),
    });
    await it.ask('INVITE', it.callee.uri('bob'), { sdp: PEER_SDP });
    const bye = await it.peer.untilRequest('BYE');
    it.peer.answer(bye, 200);
    await until(() => outcomes.length > 0, 'the end');
    expect(outcomes).toMatchObject([{ by: 'network', reason: 'no_response' }]);
    expect(answersTo(it.peer, 'INVITE').length, 'the 2xx was repeated').toBeGreaterThan(4);
    await until(() => it.callee.agent.stats().dialogs === 0, 'no dialog is left');
  });

  test('is taken back by BYE on its early dialog, too', async () => {
    const outcomes: CallOutcome[] = [];
    await using it = await open({
      onInvite: (call) => [call.ring(), call.outcome.then((end) => outcomes.push(end))],
    });
    it.peer.send(it.peer.request('INVITE', it.callee.uri('bob'), { sdp: PEER_SDP }), it.callee.port);
    const ringing = await it.peer.until('180 INVITE');
    it.peer.send(
      { ...it.peer.request('BYE', it.callee.uri('bob'), { cseq: 2 }), to: ringing.to },
      it.callee.port,
    );
    await it.peer.until('487 INVITE');
    await it.peer.until('200 BYE');
    expect(outcomes).toMatchObject([{ by: 'remote', reason: 'hangup' }]);
  });

  test('with a reliable 180 that nobody acknowledges fails', async () => {
    const outcomes: CallOutcome[] = [];
    await using it = await open({
      onInvite: (call) => [call.ring(), call.accept({ media: mediaAt(1) }).then((end) => outcomes.push(end))],
    });
    const answer = await it.ask('INVITE', it.callee.uri('bob'), {
      sdp: PEER_SDP,
      lines: [['Require', '100rel']],
    });
    expect(answer.status).toBe(504);
    expect(outcomes).toMatchObject([{ by: 'network', reason: 'no_response' }]);
    const rseqs = it.peer.received.flatMap(({ headers }) => headers.get('RSeq') ?? []);
    expect(rseqs.length).toBeGreaterThan(3);
    expect(new Set(rseqs).size).toBe(1);
  });

  test.each<[string | undefined, string | undefined, string | undefined]>([
    ['1800;refresher=uas', 'timer', '1800;refresher=uas'],
    ['1800', 'timer', '1800;refresher=uac'],
    // The peer does not know session timers, so only we can refresh, and the least interval is ours.
    ['60;refresher=uac', undefined, '90;refresher=uas'],
    [undefined, 'timer', '1800;refresher=uac'],
    [undefined, undefined, undefined],
  ])('with Session-Expires %s and Supported %s is answered with %s', async (expires, supported, expected) => {
    await using it = await open({ onInvite: (call) => void call.accept({ media: mediaAt(50_000) }) });
    const lines = [
      ...(expires === undefined ? [] : [['Session-Expires', expires] as const]),
      ...(supported === undefined ? [] : [['Supported', supported] as const]),
    ];
    const answer = await it.ask('INVITE', it.callee.uri('bob'), { sdp: PEER_SDP, lines });
    expect(answer.headers.get('Session-Expires')).toBe(expected);
    expect(answer.headers.tokens('Require').includes('timer')).toBe(
      supported !== undefined && parseSessionExpires(answer.headers) !== undefined,
    );
  });

  test('that is refused while a reliable 180 waits for its PRACK hears no more 180', async () => {
    await using it = await open({ onInvite: (call) => [call.ring(), call.reject(486)] });
    const lines = [['Require', '100rel']] as const;
    const answer = await it.ask('INVITE', it.callee.uri('bob'), { sdp: PEER_SDP, lines });
    it.peer.send(
      { ...it.peer.request('ACK', it.callee.uri('bob'), { branch: 'z9hG4bKINVITE1raw' }), to: answer.to },
      it.callee.port,
    );
    await until(() => it.callee.clock.pending === 0, 'the last timer, well before 64·T1', 1_200);
    expect(
      it.peer.received.filter((message) => message.kind === 'response' && message.status === 180).length,
    ).toBeLessThanOrEqual(2);
  });

  test('can not be refused with a status that is no failure, or with a line break', async () => {
    const errors: unknown[] = [];
    await using it = await open({
      onInvite: (call) => {
        for (const attempt of [
          () => call.reject(200),
          () => call.reject(486, { reason: 'a\r\nEvil: 1' }),
          () => call.reject(486, { headers: [['X', 'a\nb']] }),
        ]) {
          try {
            attempt();
          } catch (error) {
            errors.push(error);
          }
        }
        call.reject(603);
      },
    });
    expect((await it.ask('INVITE', it.callee.uri('bob'), { sdp: PEER_SDP })).status).toBe(603);
    expect(errors.map(String)).toEqual([
      expect.stringContaining('RangeError'),
      expect.stringContaining('line break'),
      expect.stringContaining('line break'),
    ]);
  });
});

async function established() {
  const outcomes: CallOutcome[] = [];
  const it = await open({
    onInvite: (call) => void call.accept({ media: mediaAt(50_000) }).then((end) => outcomes.push(end)),
  });
  const answer = await it.ask('INVITE', it.callee.uri('bob'), { sdp: PEER_SDP });
  const send = (method: string, cseq: number, sdp = ''): void =>
    it.peer.send(
      { ...it.peer.request(method, it.callee.uri('bob'), { cseq, sdp }), to: answer.to },
      it.callee.port,
    );
  send('ACK', 1);
  await until(() => outcomes.length === 1, 'the call is up');
  const status = async (cseq: number): Promise<number | undefined> => {
    const found = () => answersTo(it.peer, 'INVITE').find((message) => message.cseq.number === cseq);
    await until(() => found() !== undefined, `an answer to INVITE ${cseq}`);
    return found()?.status;
  };
  return { ...it, send, status, outcome: outcomes[0] };
}

describe('a re-INVITE', () => {
  test('meets 491 while the one before waits for its ACK, and 488 leaves the call as it was', async () => {
    const it = await established();
    it.send('INVITE', 2, PEER_SDP.replace('55000', '55002'));
    expect(await it.status(2)).toBe(200);
    it.send('INVITE', 3, PEER_SDP);
    expect(await it.status(3)).toBe(491);
    it.send('ACK', 2);
    it.send('INVITE', 4, PEER_SDP.replace('AVP 0', 'AVP 18'));
    expect(await it.status(4)).toBe(488);
    expect(it.outcome?.kind === 'answered' && it.outcome.call.media?.remotePort).toBe(55_002);
    expect(it.callee.agent.stats().dialogs).toBe(1);
    await Promise.all([it.callee.agent.close(0), it.peer[Symbol.asyncDispose]()]);
  });

  test('without an offer whose ACK has no answer ends the call', async () => {
    const it = await established();
    it.send('INVITE', 2);
    expect(await it.status(2)).toBe(200);
    it.send('ACK', 2);
    const bye = await it.peer.untilRequest('BYE');
    it.peer.answer(bye, 200);
    expect(it.outcome?.kind === 'answered' && (await it.outcome.call.ended)).toMatchObject({
      by: 'local',
      reason: 'media_refused',
    });
    await Promise.all([it.callee.agent.close(0), it.peer[Symbol.asyncDispose]()]);
  });
});

/** Puts a body and its type into a request whose type the test may have chosen itself. */
function withBody(
  request: ReturnType<RawPeer['request']>,
  sdp: string,
): Partial<ReturnType<RawPeer['request']>> {
  if (sdp === '') return {};
  const headers = request.headers.has('Content-Type')
    ? request.headers
    : request.headers.with([['Content-Type', 'application/sdp']]);
  return { headers, body: Buffer.from(sdp) };
}
