/** REFER: we ask the peer of a call to call somebody in our place (RFC 3515). */

import { describe, expect, test } from 'vitest';
import type { Call, CallOutcome, ReferOutcome } from '../../src/index.ts';
import type { SipRequest } from '../../src/message/message.ts';
import { asked, nextReferState, type ReferEvent, type ReferState } from '../../src/session/refer-state.ts';
import { mediaAt, openAgent, type TestAgent, until } from '../kit/agents.ts';
import { PEER_SDP, RawPeer } from '../kit/raw-peer.ts';

describe('the states of a REFER', () => {
  const accepted: ReferState = { kind: 'accepted' };
  const done: ReferState = { kind: 'done', outcome: { kind: 'connected' } };
  const failed = (reason: string, sipStatus?: number) => ({
    kind: 'done',
    outcome: { kind: 'failed', reason, sipStatus },
  });
  const taken = { kind: 'done', outcome: { kind: 'taken' } };
  const events = {
    accepted: { kind: 'accepted', silent: false },
    acceptedSilently: { kind: 'accepted', silent: true },
    refused: { kind: 'refused', sipStatus: 405 },
    unanswered: { kind: 'refused', sipStatus: undefined },
    trying: { kind: 'notified', status: 100, last: false },
    ringing: { kind: 'notified', status: 180, last: false },
    answered: { kind: 'notified', status: 200, last: true },
    busy: { kind: 'notified', status: 486, last: true },
    unreadable: { kind: 'notified', status: undefined, last: false },
    overWithoutWord: { kind: 'notified', status: 100, last: true },
    limit: { kind: 'limit' },
    leftByPeer: { kind: 'call_ended', byPeer: true },
    leftByUs: { kind: 'call_ended', byPeer: false },
  } as const satisfies Record<string, ReferEvent>;
  const table: Record<keyof typeof events, readonly [fromAsked: unknown, fromAccepted: unknown]> = {
    accepted: [accepted, accepted],
    acceptedSilently: [taken, taken],
    refused: [failed('refused', 405), failed('refused', 405)],
    unanswered: [failed('refused'), failed('refused')],
    trying: [accepted, accepted],
    ringing: [accepted, accepted],
    answered: [done, done],
    busy: [failed('not_connected', 486), failed('not_connected', 486)],
    unreadable: [accepted, accepted],
    overWithoutWord: [failed('not_connected'), failed('not_connected')],
    limit: [failed('limit'), failed('limit')],
    leftByPeer: [failed('call_ended'), taken],
    leftByUs: [failed('call_ended'), failed('call_ended')],
  };

  test.each(Object.keys(table) as (keyof typeof events)[])('%s', (name) => {
    const [fromAsked, fromAccepted] = table[name];
    expect(nextReferState(asked, events[name])).toEqual(fromAsked);
    expect(nextReferState(accepted, events[name])).toEqual(fromAccepted);
    expect(nextReferState(done, events[name])).toBe(done);
  });
});

describe('a REFER on the wire', () => {
  interface Referred extends AsyncDisposable {
    readonly peer: RawPeer;
    readonly caller: TestAgent;
    readonly call: Call;
    readonly refer: SipRequest;
    readonly outcome: Promise<ReferOutcome>;
    /** Tells of progress; resolves when our answer came. */
    notify(line: string, state: string, more?: { event?: string; type?: string }): Promise<void>;
  }

  async function refer(limitMs = 10_000): Promise<Referred> {
    const peer = await RawPeer.open();
    const caller = await openAgent();
    peer.onMessage = (message) => {
      if (message.kind !== 'request') return;
      if (message.method === 'INVITE') peer.answer(message, 200, { sdp: PEER_SDP });
      if (message.method === 'BYE') peer.answer(message, 200);
    };
    const call = answered(
      await caller.agent.call({ to: peer.uri('bob'), from: caller.uri('alice'), media: mediaAt(40_000) })
        .outcome,
    ).call;
    const outcome = call.refer('sip:carol@example.test', limitMs);
    const request = await peer.untilRequest('REFER');
    let cseq = 10;
    return {
      peer,
      caller,
      call,
      refer: request,
      outcome,
      async notify(line, state, { event = 'refer', type = 'message/sipfrag;version=2.0' } = {}) {
        cseq += 1;
        const made = peer.request('NOTIFY', caller.uri('alice'), {
          cseq,
          callId: request.callId,
          lines: [
            ['Event', event],
            ['Subscription-State', state],
            ['Content-Type', type],
          ],
        });
        peer.send({ ...made, from: request.to, to: request.from, body: Buffer.from(`${line}\r\n`) });
        await until(
          () => peer.received.some((got) => got.kind === 'response' && got.cseq.number === cseq),
          'the answer to NOTIFY',
        );
      },
      async [Symbol.asyncDispose]() {
        await caller[Symbol.asyncDispose]();
        await peer[Symbol.asyncDispose]();
      },
    };
  }

  test('names the target and who asks, and reports the answer of the target', async () => {
    await using it = await refer();
    expect(it.refer.headers.get('Refer-To')).toBe('<sip:carol@example.test>');
    expect(it.refer.headers.get('Referred-By')).toContain('sip:alice@');
    expect(it.refer.headers.get('Contact')).toContain(`:${it.caller.port}`);
    it.peer.answer(it.refer, 202);
    await it.notify('SIP/2.0 100 Trying', 'active;expires=60');
    await it.notify('SIP/2.0 180 Ringing', 'active;expires=50');
    await it.notify('SIP/2.0 200 OK', 'terminated;reason=noresource');
    expect(await it.outcome).toEqual({ kind: 'connected' });
    expect(it.peer.log().filter((line) => line.endsWith('NOTIFY'))).toEqual(['200 NOTIFY']);
  });

  test('a target that is busy leaves the call as it was', async () => {
    await using it = await refer();
    it.peer.answer(it.refer, 202);
    await it.notify('SIP/2.0 486 Busy Here', 'terminated;reason=noresource', { event: 'refer;id=2' });
    expect(await it.outcome).toEqual({ kind: 'failed', reason: 'not_connected', sipStatus: 486 });
    expect(it.peer.log()).not.toContain('BYE');
    // Another one may be asked for now; what still comes of the old one is answered.
    const again = it.call.refer('sip:dave@example.test', 10_000);
    await until(() => refers(it.peer).length === 2, 'the second REFER');
    it.peer.answer(refers(it.peer)[1] as SipRequest, 603);
    expect(await again).toEqual({ kind: 'failed', reason: 'refused', sipStatus: 603 });
  });

  test('news that overtakes the response counts', async () => {
    await using it = await refer();
    await it.notify('SIP/2.0 200 OK', 'terminated;reason=noresource');
    expect(await it.outcome).toEqual({ kind: 'connected' });
    it.peer.answer(it.refer, 202);
  });

  test('a peer that promises no progress has taken the call', async () => {
    await using it = await refer();
    it.peer.answer(it.refer, 202, { lines: [['Refer-Sub', 'false']] });
    expect(await it.outcome).toEqual({ kind: 'taken' });
  });

  test('a peer that hangs up once it has accepted has taken the call', async () => {
    await using it = await refer();
    it.peer.answer(it.refer, 202);
    await it.notify('SIP/2.0 100 Trying', 'active;expires=60');
    const bye = it.peer.request('BYE', it.caller.uri('alice'), { cseq: 99, callId: it.refer.callId });
    it.peer.send({ ...bye, from: it.refer.to, to: it.refer.from });
    expect(await it.outcome).toEqual({ kind: 'taken' });
    expect(await it.call.ended).toMatchObject({ by: 'remote', reason: 'hangup' });
  });

  test('without any news it ends at the limit, without an answer with the transaction', async () => {
    await using it = await refer(200);
    it.peer.answer(it.refer, 202);
    expect(await it.outcome).toEqual({ kind: 'failed', reason: 'limit', sipStatus: undefined });
    // The peer may still be at it: nobody else is called meanwhile.
    expect(await it.call.refer('sip:dave@example.test', 1_000)).toMatchObject({ reason: 'refused' });
    expect(refers(it.peer)).toHaveLength(1);
    await using mute = await refer();
    expect(await mute.outcome).toEqual({ kind: 'failed', reason: 'refused', sipStatus: undefined });
  });

  test('hanging up ends it, and no timer stays', async () => {
    await using it = await refer();
    it.peer.answer(it.refer, 202);
    await it.notify('SIP/2.0 100 Trying', 'active;expires=60');
    await it.call.hangup();
    expect(await it.outcome).toMatchObject({ kind: 'failed', reason: 'call_ended' });
    expect(await it.call.refer('sip:carol@example.test', 1_000)).toMatchObject({ reason: 'call_ended' });
  });

  test('only one at a time', async () => {
    await using it = await refer();
    expect(await it.call.refer('sip:dave@example.test', 1_000)).toMatchObject({ reason: 'refused' });
    expect(() => it.call.refer('tel:+1', 1_000)).toThrow(TypeError);
    it.peer.answer(it.refer, 202);
  });

  test('news of anything else has no subscription', async () => {
    await using it = await refer();
    it.peer.answer(it.refer, 202);
    await it.notify('SIP/2.0 200 OK', 'terminated', { event: 'presence' });
    expect(it.peer.log()).toContain('481 NOTIFY');
    await it.notify('SIP/2.0 200 OK', 'active', { type: 'text/plain' });
    await it.notify('SIP/2.0 503 No', 'terminated');
    expect(await it.outcome).toMatchObject({ reason: 'not_connected', sipStatus: 503 });
  });
});

function refers(peer: RawPeer): SipRequest[] {
  const requests = peer.received.filter((message) => message.kind === 'request');
  return [...new Map(requests.map((request) => [request.cseq.number, request])).values()].filter(
    ({ method }) => method === 'REFER',
  );
}

function answered(outcome: CallOutcome) {
  if (outcome.kind !== 'answered') throw new Error(`not answered: ${JSON.stringify(outcome)}`);
  return outcome;
}
