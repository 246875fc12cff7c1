/** What a caller does when the far end is awkward: scripted peers over UDP. */

import { describe, expect, test } from 'vitest';
import { digestParams, digestResponse } from '../../src/auth/digest.ts';
import type { CallOptions, CallOutcome, Resolver } from '../../src/index.ts';
import { paramText } from '../../src/message/grammar.ts';
import { Headers } from '../../src/message/headers.ts';
import { responseTo, type SipMessage, type SipRequest, type SipResponse } from '../../src/message/message.ts';
import { branchOf } from '../../src/message/via.ts';
import { mediaAt, openAgent, type TestAgent, until } from '../kit/agents.ts';
import { PEER_SDP, RawPeer } from '../kit/raw-peer.ts';

function call(caller: TestAgent, peer: RawPeer, options: Partial<CallOptions> = {}) {
  return caller.agent.call({
    to: peer.uri('bob'),
    from: caller.uri('alice'),
    media: mediaAt(40_000),
    ...options,
  });
}

/** Answers every request of the kind that `answers` names; the rest is ignored. */
function script(
  peer: RawPeer,
  answers: Readonly<Record<string, (request: SipRequest, nth: number) => void>>,
): void {
  const counts = new Map<string, number>();
  const seen = new Set<string>();
  peer.onMessage = (message) => {
    if (message.kind !== 'request') return;
    const branch = `${message.method} ${branchOf(message.via[0] ?? { transport: '', host: '', params: new Map() })}`;
    if (seen.has(branch) && message.method !== 'ACK') return;
    seen.add(branch);
    const nth = counts.get(message.method) ?? 0;
    counts.set(message.method, nth + 1);
    answers[message.method]?.(message, nth);
  };
}

function requests(peer: RawPeer, method: string): SipRequest[] {
  return peer.received.filter(
    (message): message is SipRequest => message.kind === 'request' && message.method === method,
  );
}

describe('after the answer', () => {
  test('ACK and BYE follow the recorded route, each with a Via and a branch of its own', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    const route = `<sip:127.0.0.1:${peer.port};lr>`;
    script(peer, {
      INVITE: (invite) =>
        peer.answer(invite, 200, {
          sdp: PEER_SDP,
          lines: [['Record-Route', `<sip:outer.test;lr>, ${route}`]],
        }),
      BYE: (bye) => peer.answer(bye, 200),
    });
    const outcome = await call(caller, peer).outcome;
    const ack = await peer.untilRequest('ACK');
    await answered(outcome).hangup();
    const bye = await peer.untilRequest('BYE');
    const [invite] = requests(peer, 'INVITE');
    for (const request of [ack, bye])
      expect(request.headers.all('Route')).toEqual([route, '<sip:outer.test;lr>']);
    const branches = [invite, ack, bye].map((request) => request?.via[0] && branchOf(request.via[0]));
    expect(new Set(branches).size).toBe(3);
    expect(ack.cseq.number).toBe(invite?.cseq.number);
    expect(bye.cseq.number).toBe((invite?.cseq.number ?? 0) + 1);
  });

  test('a second phone that answers too gets its ACK and a BYE, the first call stays', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    script(peer, {
      INVITE: (invite) => {
        peer.answer(invite, 180, { tag: 'one' });
        peer.answer(invite, 180, { tag: 'two' });
        peer.answer(invite, 200, { tag: 'one', sdp: PEER_SDP });
        peer.answer(invite, 200, { tag: 'two', sdp: PEER_SDP });
      },
      BYE: (bye) => peer.answer(bye, 200),
    });
    const outcome = await call(caller, peer).outcome;
    const bye = await peer.untilRequest('BYE');
    expect(bye.to.params.get('tag')).toBe('two');
    expect(requests(peer, 'ACK').map(({ to }) => to.params.get('tag'))).toEqual(
      expect.arrayContaining(['one', 'two']),
    );
    await until(() => caller.agent.stats().dialogs === 1, 'one dialog is left');
    expect(answered(outcome).media?.remotePort).toBe(55_000);
  });

  test('an answer without usable media is acknowledged and ended', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    script(peer, {
      INVITE: (invite) => peer.answer(invite, 200, { sdp: PEER_SDP }),
      BYE: (bye) => peer.answer(bye, 200),
    });
    const outcome = await call(caller, peer, { media: mediaAt(40_000, { srtp: 'required' }) }).outcome;
    expect(outcome).toMatchObject({ by: 'local', reason: 'media_refused' });
    await peer.until('BYE');
    expect(peer.log()).toEqual(['INVITE', 'ACK', 'BYE']);
  });

  test('the BYE waits until the ACK has left, however long its address takes to resolve', async () => {
    await using peer = await RawPeer.open();
    let lookups = 0;
    const resolver: Resolver = {
      srv: async () => [],
      addresses: (name) =>
        new Promise((resolve) =>
          setTimeout(
            () => resolve([name === 'slow.test' ? '127.0.0.1' : '']),
            (lookups += 1) === 1 ? 100 : 0,
          ),
        ),
    };
    await using caller = await openAgent({ resolver });
    script(peer, {
      INVITE: (invite) => {
        const headers = Headers.from([['Contact', `<sip:bob@slow.test:${peer.port}>`]]);
        peer.send(responseTo(invite, 200, { toTag: 't', headers }));
      },
      BYE: (bye) => peer.answer(bye, 200),
    });
    expect(await call(caller, peer).outcome).toMatchObject({ reason: 'media_refused' });
    await peer.until('BYE');
    expect(peer.log().filter((text) => text !== 'INVITE')).toEqual(['ACK', 'BYE']);
  });

  test('a BYE with an older CSeq is refused, REFER is never obeyed', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    script(peer, {
      INVITE: (invite) => peer.answer(invite, 200, { sdp: PEER_SDP }),
      BYE: (bye) => peer.answer(bye, 200),
    });
    const outcome = await call(caller, peer).outcome;
    const { from, to, callId } = await peer.untilRequest('ACK');
    const inside = (method: string, cseq: number): SipMessage => ({
      ...peer.request(method, caller.uri('alice'), { cseq, callId }),
      from: to,
      to: from,
    });
    peer.send(inside('OPTIONS', 5));
    await peer.until('200 OPTIONS');
    peer.send({ ...(inside('REFER', 6) as SipRequest) });
    await peer.until('405 REFER');
    peer.send(inside('BYE', 5));
    await peer.until('500 BYE');
    peer.send(inside('BYE', 7));
    await peer.until('200 BYE');
    expect(await answered(outcome).ended).toMatchObject({ by: 'remote', reason: 'hangup' });
    expect(requests(peer, 'INVITE')).toHaveLength(1);
  });
});

describe('an UPDATE of the callee before its answer', () => {
  /** A callee that rings with a reliable 183 and can say UPDATE. */
  async function openRinging() {
    const peer = await RawPeer.open();
    const caller = await openAgent();
    const agreed: number[] = [];
    let ringing: SipResponse | undefined;
    let invite: SipRequest | undefined;
    return {
      peer,
      caller,
      agreed,
      ring(sdp: string | undefined) {
        script(peer, {
          INVITE: (request) => {
            invite = request;
            const reliable = [
              ['Require', '100rel'],
              ['RSeq', '1'],
            ] as const;
            ringing = peer.answer(request, 183, { lines: reliable, ...(sdp === undefined ? {} : { sdp }) });
          },
          PRACK: (prack) => peer.answer(prack, 200),
        });
        const onMedia = ({ remotePort }: { remotePort: number }): number => agreed.push(remotePort);
        return call(caller, peer, { onMedia });
      },
      async update(sdp: string) {
        await peer.untilRequest('PRACK');
        if (ringing === undefined || invite === undefined) throw new Error('it does not ring');
        const { callId } = invite;
        const update = peer.request('UPDATE', caller.uri('alice'), { callId, cseq: 7, sdp });
        peer.send({ ...update, from: ringing.to, to: invite.from });
      },
      answer: (sdp: string) => invite && peer.answer(invite, 200, { sdp }),
      async [Symbol.asyncDispose]() {
        await caller[Symbol.asyncDispose]();
        await peer[Symbol.asyncDispose]();
      },
    };
  }
  const moved = PEER_SDP.replace('55000', '56000').replace('o=- 1 1', 'o=- 1 2');

  test('moves the media, and the 2xx that repeats the first answer does not move it back', async () => {
    await using ringing = await openRinging();
    const { outcome } = ringing.ring(PEER_SDP);
    await ringing.update(moved);
    await ringing.peer.until('200 UPDATE');
    ringing.answer(PEER_SDP);
    expect(await outcome).toMatchObject({ kind: 'answered', media: { remotePort: 56_000 } });
    expect(ringing.agreed).toEqual([55_000, 56_000]);
  });

  test('meets 491 while our offer has no answer', async () => {
    await using ringing = await openRinging();
    const { outcome } = ringing.ring(undefined);
    await ringing.update(moved);
    await ringing.peer.until('491 UPDATE');
    ringing.answer(PEER_SDP);
    expect(await outcome).toMatchObject({ kind: 'answered', media: { remotePort: 55_000 } });
    expect(ringing.agreed).toEqual([55_000]);
  });
});

describe('refusals and silence', () => {
  test('a redirection is told and never followed', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    script(peer, {
      INVITE: (invite) => peer.answer(invite, 302, { lines: [['Contact', '<sip:+19005551234@evil.test>']] }),
    });
    expect(await call(caller, peer).outcome).toMatchObject({
      by: 'remote',
      reason: 'redirected',
      sipStatus: 302,
    });
    await until(() => caller.agent.stats().transactions === 0, 'the transaction ends');
    expect(peer.log()).toEqual(['INVITE', 'ACK']);
  });

  test('a peer that never answers ends the call as lost in the network', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    const outcome = await call(caller, peer).outcome;
    expect(outcome).toEqual({ kind: 'ended', by: 'network', reason: 'no_response', provisional: undefined });
    expect(requests(peer, 'INVITE').length).toBeGreaterThan(4);
  });

  test('a host that does not resolve is unreachable', async () => {
    const resolver: Resolver = { srv: async () => [], addresses: async () => [] };
    await using caller = await openAgent({ resolver });
    const outcome = await caller.agent.call({
      to: 'sip:a@nowhere.test',
      from: caller.uri('a'),
      media: mediaAt(1),
    }).outcome;
    expect(outcome).toMatchObject({ by: 'network', reason: 'unreachable' });
  });

  test('CANCEL waits for a provisional response, and goes where the INVITE went', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    let invite: SipRequest | undefined;
    script(peer, {
      INVITE: (request) => (invite = request),
      CANCEL: (cancel) => {
        peer.answer(cancel, 200);
        if (invite !== undefined) peer.answer(invite, 487);
      },
    });
    const outgoing = call(caller, peer);
    await peer.until('INVITE');
    outgoing.cancel({ protocol: 'SIP', cause: 487, text: 'gone' });
    // Two retransmissions later there is still no CANCEL.
    await until(() => requests(peer, 'INVITE').length >= 3, 'retransmissions');
    expect(requests(peer, 'CANCEL')).toEqual([]);
    if (invite !== undefined) peer.answer(invite, 180);
    const cancel = await peer.untilRequest('CANCEL');
    expect(cancel.via).toEqual(invite?.via);
    expect(cancel.headers.get('Reason')).toBe('SIP;cause=487;text="gone"');
    expect(await outgoing.outcome).toMatchObject({
      by: 'local',
      reason: 'cancelled',
      sipStatus: 487,
      provisional: 180,
    });
  });

  test('busy that crosses our CANCEL is told as busy', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    let invite: SipRequest | undefined;
    script(peer, {
      INVITE: (request) => peer.answer((invite = request), 180),
      CANCEL: () => invite && peer.answer(invite, 486),
    });
    expect(await call(caller, peer, { ringLimitMs: 100 }).outcome).toMatchObject({
      by: 'remote',
      reason: 'rejected',
      sipStatus: 486,
    });
  });

  test('a far end that ignores our CANCEL can not hold the caller', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    script(peer, {
      INVITE: (invite) => peer.answer(invite, 180),
      CANCEL: (cancel) => peer.answer(cancel, 200),
    });
    expect(await call(caller, peer, { ringLimitMs: 50 }).outcome).toMatchObject({
      by: 'local',
      reason: 'ring_limit',
      provisional: 180,
    });
    await until(() => caller.agent.stats().transactions === 0, 'the end of the transaction');
  });

  test('a Retry-After is told with the refusal', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    script(peer, { INVITE: (invite) => peer.answer(invite, 503, { lines: [['Retry-After', '30 (soon)']] }) });
    expect(await call(caller, peer).outcome).toMatchObject({ sipStatus: 503, retryAfterSeconds: 30 });
  });
});

function twoPlaces(first: RawPeer, second: RawPeer): Resolver {
  return {
    srv: async (name) =>
      name.startsWith('_sip._udp')
        ? [first, second].map(({ port }, priority) => ({ name: 'host.test', port, priority, weight: 0 }))
        : [],
    addresses: async () => ['127.0.0.1'],
  };
}

describe('failover', () => {
  test.each<[string, (peer: RawPeer, invite: SipRequest) => void]>([
    ['is overloaded (503)', (peer, invite) => peer.answer(invite, 503)],
    ['is silent', () => undefined],
    ['says 100 and no more but 503', (peer, invite) => [peer.answer(invite, 100), peer.answer(invite, 503)]],
  ])('the next place is asked, with the same CSeq, when the first %s', async (_, first) => {
    await using dead = await RawPeer.open();
    await using live = await RawPeer.open();
    await using caller = await openAgent({ resolver: twoPlaces(dead, live) });
    script(dead, { INVITE: (invite) => first(dead, invite) });
    script(live, {
      INVITE: (invite) => live.answer(invite, 200, { sdp: PEER_SDP }),
      BYE: (bye) => live.answer(bye, 200),
    });
    const outcome = await call(caller, live, { to: 'sip:bob@example.test' }).outcome;
    expect(outcome.kind).toBe('answered');
    const [one] = requests(dead, 'INVITE');
    const [two] = requests(live, 'INVITE');
    expect([two?.callId, two?.cseq]).toEqual([one?.callId, one?.cseq]);
    expect(two?.via).not.toEqual(one?.via);
  });

  test('other requests go to the next place, too', async () => {
    await using dead = await RawPeer.open();
    await using live = await RawPeer.open();
    await using caller = await openAgent({ resolver: twoPlaces(dead, live) });
    dead.onMessage = (message) => message.kind === 'request' && dead.answer(message, 503);
    live.onMessage = (message) => message.kind === 'request' && live.answer(message, 200);
    const monitor = caller.agent.monitor({ uri: 'sip:example.test', from: caller.uri('us') });
    await until(() => monitor.health.state === 'up', 'the second place answers');
    expect([dead.log(), live.log()]).toEqual([['OPTIONS'], ['OPTIONS']]);
  });

  test('no other place is asked once a phone has rung', async () => {
    await using ringing = await RawPeer.open();
    await using other = await RawPeer.open();
    await using caller = await openAgent({ resolver: twoPlaces(ringing, other) });
    script(ringing, { INVITE: (invite) => [ringing.answer(invite, 180), ringing.answer(invite, 503)] });
    expect(await call(caller, other, { to: 'sip:bob@example.test' }).outcome).toMatchObject({
      sipStatus: 503,
      provisional: 180,
    });
    expect(other.received).toEqual([]);
  });
});

describe('what the outcome of a failed call tells', () => {
  test('a phone that may have rung before credentials were asked for is not forgotten', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    script(peer, {
      INVITE: (invite, nth) => {
        if (nth > 0) return peer.answer(invite, 503);
        peer.answer(invite, 180);
        const challenge = ['Proxy-Authenticate', 'Digest realm="here", nonce="n", qop="auth"'] as const;
        return peer.answer(invite, 407, { lines: [challenge] });
      },
    });
    const credentials = { username: 'alice', password: 'secret' };
    expect(await call(caller, peer, { credentials }).outcome).toMatchObject({
      by: 'remote',
      sipStatus: 503,
      provisional: 180,
    });
  });

  test('an answer that no dialog can follow from is told by its status', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    script(peer, { INVITE: (invite) => peer.answer(invite, 200, { lines: [['Record-Route', '<<>']] }) });
    expect(await call(caller, peer).outcome).toMatchObject({
      by: 'network',
      reason: 'no_response',
      sipStatus: 200,
    });
  });
});

describe('credentials', () => {
  const credentials = { username: 'alice', password: 'secret' };
  const algorithms = ['MD5', 'SHA-256'] as const;

  /** Whether a request carries a digest that fits the nonce. */
  function fits(
    request: SipRequest,
    nonce: string,
    header: string,
    algorithm: (typeof algorithms)[number],
  ): boolean {
    const params = digestParams(request.headers.get(header) ?? '');
    const get = (name: string): string => (params && paramText(params, name)) ?? '';
    const expected = digestResponse({
      ...credentials,
      algorithm,
      realm: 'here',
      nonce,
      method: request.method,
      uri: get('uri'),
      qop: { cnonce: get('cnonce'), count: get('nc') },
    });
    return get('nonce') === nonce && get('response') === expected;
  }

  test.each(algorithms.flatMap((algorithm) => [401, 407].map((status) => ({ algorithm, status }))))(
    'answer a $status with $algorithm, and go with the later requests of the call',
    async ({ algorithm, status }) => {
      await using peer = await RawPeer.open();
      await using caller = await openAgent();
      const [asks, answers] =
        status === 401
          ? (['WWW-Authenticate', 'Authorization'] as const)
          : (['Proxy-Authenticate', 'Proxy-Authorization'] as const);
      script(peer, {
        INVITE: (invite) => {
          const good = fits(invite, 'n1', answers, algorithm);
          if (good) peer.answer(invite, 200, { sdp: PEER_SDP });
          else
            peer.answer(invite, status, {
              lines: [[asks, `Digest realm="here", nonce="n1", algorithm=${algorithm}, qop="auth"`]],
            });
        },
        BYE: (bye) => peer.answer(bye, fits(bye, 'n1', answers, algorithm) ? 200 : 403),
      });
      const outcome = await call(caller, peer, { credentials }).outcome;
      await answered(outcome).hangup();
      await peer.until('BYE');
      await until(
        () =>
          caller.network.received.some(
            (message) => message.kind === 'response' && message.cseq.method === 'BYE',
          ),
        'the answer to BYE',
      );
      expect(caller.network.received.at(-1)).toMatchObject({ status: 200 });
      const ack = requests(peer, 'ACK').at(-1);
      expect(ack?.headers.get(answers), 'the ACK repeats the credentials of its INVITE').toBe(
        requests(peer, 'INVITE').at(-1)?.headers.get(answers),
      );
    },
  );

  test('a stale nonce is answered once more', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    script(peer, {
      INVITE: (invite, nth) => {
        if (nth < 2)
          peer.answer(invite, 401, {
            lines: [
              [
                'WWW-Authenticate',
                `Digest realm="here", nonce="n${nth}", qop="auth"${nth > 0 ? ', stale=true' : ''}`,
              ],
            ],
          });
        else peer.answer(invite, fits(invite, 'n1', 'Authorization', 'MD5') ? 486 : 403);
      },
    });
    expect(await call(caller, peer, { credentials }).outcome).toMatchObject({ sipStatus: 486 });
  });

  test('a peer that is never satisfied is tried three times in all, the first without credentials', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    script(peer, {
      INVITE: (invite, nth) =>
        peer.answer(invite, 401, {
          lines: [['WWW-Authenticate', `Digest realm="here", nonce="n${nth}", stale=true`]],
        }),
    });
    expect(await call(caller, peer, { credentials }).outcome).toMatchObject({
      by: 'remote',
      reason: 'unauthorized',
      sipStatus: 401,
    });
    expect(new Set(requests(peer, 'INVITE').map(({ cseq }) => cseq.number)).size).toBe(3);
  });

  test('without credentials a challenge is final', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    script(peer, {
      INVITE: (invite) =>
        peer.answer(invite, 407, { lines: [['Proxy-Authenticate', 'Digest realm="here", nonce="n"']] }),
    });
    expect(await call(caller, peer).outcome).toMatchObject({ reason: 'unauthorized', sipStatus: 407 });
    await until(() => caller.agent.stats().transactions === 0, 'the transaction ends');
    expect(peer.log()).toEqual(['INVITE', 'ACK']);
  });
});

describe('what callers of this package pass in', () => {
  test.each<[string, Partial<CallOptions>]>([
    ['a header value', { headers: [['X', 'a\r\nEvil: 1']] }],
    ['a header name', { headers: [['X\r\nEvil', '1']] }],
    ['a header of the stack', { headers: [['Route', '<sip:evil>']] }],
    ['the callee', { to: 'sip:bob@h\r\nEvil: 1' }],
    ['the callee’s URI headers', { to: 'sip:bob@h?Route=%3Csip:evil%3E' }],
    ['the caller', { from: 'sip:a>\r\nEvil: 1' }],
    ['the caller’s name', { fromName: 'A\r\nEvil: 1' }],
    ['the proxy', { proxy: 'sip:h;lr\nEvil: 1' }],
    ['the user name', { credentials: { username: 'a\r\nEvil: 1', password: '' } }],
  ])('can not smuggle a header through %s', async (_, options) => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent();
    expect(() => call(caller, peer, options)).toThrow(/line break|SIP URI|token|belongs to the stack/);
    expect(caller.agent.stats()).toMatchObject({ transactions: 0, dialogs: 0 });
    expect(caller.clock.pending).toBe(0);
  });
});

function answered(outcome: CallOutcome) {
  if (outcome.kind !== 'answered') throw new Error(`not answered: ${JSON.stringify(outcome)}`);
  return outcome.call;
}
