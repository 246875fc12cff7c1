/** Session timers over real sockets, with time that the test moves. */

import { describe, expect, test } from 'vitest';
import type { Answered, CallOptions, CallOutcome, Ended } from '../../src/index.ts';
import type { SipRequest } from '../../src/message/message.ts';
import { mediaAt, openAgent, until } from '../kit/agents.ts';
import { PEER_SDP, RawPeer } from '../kit/raw-peer.ts';
import { label } from '../kit/tapped-network.ts';
import { VirtualClock } from '../kit/virtual-clock.ts';

const HALF_HOUR_MS = 900_000;

async function connect(options: Partial<CallOptions> = {}) {
  const callerTime = new VirtualClock();
  const calleeTime = new VirtualClock();
  const accepted: CallOutcome[] = [];
  const callee = await openAgent({
    clock: calleeTime,
    onInvite: (call) => void call.accept({ media: mediaAt(2) }).then((end) => accepted.push(end)),
  });
  const caller = await openAgent({ clock: callerTime });
  const outcome = await caller.agent.call({
    to: callee.uri('bob'),
    from: caller.uri('alice'),
    media: mediaAt(4),
    ...options,
  }).outcome;
  await until(() => accepted.length === 1, 'the callee is connected');
  return {
    caller,
    callee,
    callerTime,
    calleeTime,
    call: (outcome as Answered).call,
    calleeCall: (accepted[0] as Answered).call,
    async [Symbol.asyncDispose]() {
      // Closing waits for virtual time otherwise.
      await Promise.all([caller.agent.close(0), callee.agent.close(0), moveOn(callerTime, calleeTime)]);
    },
  };
}

async function moveOn(...clocks: VirtualClock[]): Promise<void> {
  for (const clock of clocks) clock.advance(1);
}

describe('a session of 30 minutes', () => {
  test('is refreshed by the caller with UPDATE, again and again', async () => {
    await using it = await connect({ sessionTimer: { refresher: 'uac' } });
    for (let round = 1; round <= 3; round += 1) {
      it.callerTime.advance(HALF_HOUR_MS);
      const updates = () =>
        it.caller.network.received.filter((message) => label(message) === '200 UPDATE').length;
      await until(() => updates() === round, `refresh ${round}`);
      it.calleeTime.advance(HALF_HOUR_MS);
    }
    expect(it.callee.agent.stats().dialogs).toBe(1);
  });

  test('is refreshed by the callee when the caller asks for that', async () => {
    await using it = await connect({ sessionTimer: { refresher: 'uas' } });
    it.calleeTime.advance(HALF_HOUR_MS);
    await until(
      () => it.callee.network.received.some((message) => label(message) === '200 UPDATE'),
      'the refresh',
    );
    expect(it.caller.network.sent.map(label)).not.toContain('UPDATE');
  });

  test('is ended with BYE by the side that waits in vain for the refresh', async () => {
    await using it = await connect({ sessionTimer: { refresher: 'uac' } });
    it.calleeTime.advance(1_768_000);
    expect(await it.calleeCall.ended).toMatchObject({ by: 'network', reason: 'session_expired' });
    expect(await it.call.ended).toMatchObject({ by: 'remote', reason: 'hangup' });
  });
});

async function connectTo(peer: RawPeer, clock: VirtualClock, onUpdate: (update: SipRequest) => void) {
  peer.onMessage = (message) => {
    if (message.kind !== 'request') return;
    if (message.method === 'INVITE') {
      const lines = [
        ['Session-Expires', '1800;refresher=uac'],
        ['Allow', 'UPDATE'],
      ] as const;
      peer.answer(message, 200, { sdp: PEER_SDP, lines });
    }
    if (message.method === 'UPDATE') onUpdate(message);
  };
  const caller = await openAgent({ clock });
  const options = { to: peer.uri('bob'), from: caller.uri('alice'), media: mediaAt(4) };
  const { call } = (await caller.agent.call(options).outcome) as Answered;
  await peer.until('ACK');
  let ended: Ended | undefined;
  void call.ended.then((end) => (ended = end));
  return { caller, ended: () => ended };
}

describe('a refresh', () => {
  test('that meets 481 ends the call: the peer has forgotten it', async () => {
    const clock = new VirtualClock();
    await using peer = await RawPeer.open();
    const { caller, ended } = await connectTo(peer, clock, (update) => peer.answer(update, 481));
    clock.advance(HALF_HOUR_MS);
    await until(() => ended() !== undefined, 'the end');
    expect(ended()).toMatchObject({ by: 'network', reason: 'session_expired' });
    await Promise.all([caller.agent.close(0), moveOn(clock)]);
  });

  test('that nobody answers leaves the call alive until its interval is over', async () => {
    const clock = new VirtualClock();
    await using peer = await RawPeer.open();
    const { caller, ended } = await connectTo(peer, clock, () => undefined);
    clock.advance(HALF_HOUR_MS);
    await peer.until('UPDATE');
    let endedAtMs = 0;
    await until(() => {
      clock.advance(1_000);
      endedAtMs = clock.now();
      return ended() !== undefined;
    }, 'the end');
    expect(ended()).toMatchObject({ by: 'network', reason: 'session_expired' });
    expect(Math.abs(endedAtMs - 2 * HALF_HOUR_MS)).toBeLessThan(10_000);
    await Promise.all([caller.agent.close(0), moveOn(clock)]);
  });
});

test('a peer that does not know UPDATE is refreshed with re-INVITE', async () => {
  const clock = new VirtualClock();
  await using peer = await RawPeer.open();
  const caller = await openAgent({ clock });
  peer.onMessage = (message) => {
    if (message.kind !== 'request' || message.method !== 'INVITE') return;
    peer.answer(message, 200, {
      sdp: PEER_SDP,
      lines: [
        ['Session-Expires', '600;refresher=uac'],
        ['Allow', 'INVITE, ACK, BYE'],
      ],
    });
  };
  const outcome = await caller.agent.call({
    to: peer.uri('bob'),
    from: caller.uri('alice'),
    media: mediaAt(4),
  }).outcome;
  expect(outcome.kind).toBe('answered');
  await peer.until('ACK');
  clock.advance(300_000);
  await until(() => invites(peer).length === 2, 'the re-INVITE');
  const [first, second] = invites(peer);
  expect(second?.body.toString(), 'the same offer').toBe(first?.body.toString());
  await until(() => peer.received.filter((message) => label(message) === 'ACK').length === 2, 'its ACK');
  await Promise.all([caller.agent.close(0), moveOn(clock)]);
});

test('a 422 makes the caller ask again for a longer session', async () => {
  await using peer = await RawPeer.open();
  await using caller = await openAgent();
  peer.onMessage = (message) => {
    if (message.kind !== 'request' || message.method !== 'INVITE') return;
    const asked = Number.parseInt(message.headers.get('Session-Expires') ?? '', 10);
    if (asked < 3_600) peer.answer(message, 422, { lines: [['Min-SE', '3600']] });
    else peer.answer(message, 486);
  };
  const outcome = await caller.agent.call({
    to: peer.uri('bob'),
    from: caller.uri('alice'),
    media: mediaAt(4),
  }).outcome;
  expect(outcome).toMatchObject({ sipStatus: 486 });
  expect(invites(peer).at(-1)?.headers.get('Min-SE')).toBe('3600');
});

test('when both sides offer at once, both meet 491, wait different times, and both have their way', async () => {
  await using it = await connect();
  const results: unknown[] = [];
  void it.call.hold().then((result) => results.push(result));
  void it.calleeCall.hold().then((result) => results.push(result));
  await until(() => {
    it.callerTime.advance(20);
    it.calleeTime.advance(20);
    return results.length === 2;
  }, 'both holds');
  expect(results).toMatchObject([{ kind: 'agreed' }, { kind: 'agreed' }]);
  expect(it.call.media?.direction).toBe('inactive');
  expect(it.calleeCall.media?.direction).toBe('inactive');
  expect(it.caller.network.received.map(label)).toContain('491 INVITE');
});

function invites(peer: RawPeer): SipRequest[] {
  return peer.received.filter((message): message is SipRequest => label(message) === 'INVITE');
}
