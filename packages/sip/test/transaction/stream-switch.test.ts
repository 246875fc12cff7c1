/** RFC 3261 §18.1.1: what is too large for a datagram. */

import { expect, test } from 'vitest';
import { messageLength, writeMessage } from '../../src/message/write.ts';
import { MAX_DATAGRAM_BYTES, StreamSwitch } from '../../src/transaction/stream-switch.ts';
import type { Network } from '../../src/transport/network.ts';
import { mediaAt, openAgent, type TestAgent, type TestAgentOptions, until } from '../kit/agents.ts';
import { freePort } from '../kit/free-port.ts';
import { PEER_SDP, RawPeer } from '../kit/raw-peer.ts';
import { label } from '../kit/tapped-network.ts';
import { VirtualClock } from '../kit/virtual-clock.ts';

const PADDING = [['X-Padding', 'x'.repeat(1_300)]] as const;

/** An agent with UDP and TCP on one port. */
async function openBoth(options: TestAgentOptions = {}): Promise<TestAgent> {
  const port = await freePort();
  return openAgent({
    ...options,
    listen: { port },
    beside: [{ transport: 'tcp', address: '127.0.0.1', port }],
  });
}

function call(caller: TestAgent, port: number, headers: readonly (readonly [string, string])[] = []) {
  return caller.agent.call({
    to: `sip:bob@127.0.0.1:${port}`,
    from: caller.uri('alice'),
    media: mediaAt(40_000),
    headers,
  });
}

/** The transports over which requests of that kind went, as their Via says. */
const ways = (agent: TestAgent, method: string): (string | undefined)[] =>
  agent.network.sent.filter((message) => label(message) === method).map(({ via }) => via[0]?.transport);

test('a large INVITE goes over TCP, a small one over UDP, and both are answered', async () => {
  await using callee = await openBoth({
    onInvite: (incoming) => void incoming.accept({ media: mediaAt(50_000) }),
  });
  await using caller = await openBoth();
  for (const [headers, way] of [
    [[], 'UDP'],
    [PADDING, 'TCP'],
  ] as const) {
    const outcome = await call(caller, callee.port, headers).outcome;
    if (outcome.kind !== 'answered') throw new Error(JSON.stringify(outcome));
    expect((await outcome.call.hangup()).reason).toBe('hangup');
    expect(ways(caller, 'INVITE').at(-1)).toBe(way);
  }
});

test('a large INVITE is cancelled where it went', async () => {
  await using callee = await openBoth({ onInvite: (incoming) => incoming.ring() });
  await using caller = await openBoth();
  const large = call(caller, callee.port, PADDING);
  await until(() => caller.network.received.some((message) => label(message) === '180 INVITE'), 'it rings');
  large.cancel();
  expect(await large.outcome).toMatchObject({ reason: 'cancelled', sipStatus: 487 });
  expect([ways(caller, 'INVITE'), ways(caller, 'CANCEL')]).toEqual([['TCP'], ['TCP']]);
});

test('without a TCP listener of ours it stays with UDP', async () => {
  await using peer = await RawPeer.open();
  await using caller = await openAgent();
  peer.onMessage = (message) => message.kind === 'request' && peer.answer(message, 486);
  expect(await call(caller, peer.port, PADDING).outcome).toMatchObject({ sipStatus: 486 });
  expect(ways(caller, 'INVITE')).toEqual(['UDP']);
});

test('a peer without TCP gets it over UDP with the same CSeq, and the next one at once', async () => {
  await using peer = await RawPeer.open();
  await using caller = await openBoth();
  peer.onMessage = (message) => {
    if (message.kind === 'request' && message.method === 'INVITE')
      peer.answer(message, 200, { sdp: PEER_SDP });
    if (message.kind === 'request' && message.method === 'BYE') peer.answer(message, 200);
  };
  for (const expected of [
    ['TCP', 'UDP'],
    ['TCP', 'UDP', 'UDP'],
  ]) {
    const outcome = await call(caller, peer.port, PADDING).outcome;
    if (outcome.kind !== 'answered') throw new Error(JSON.stringify(outcome));
    expect(ways(caller, 'INVITE')).toEqual(expected);
    await outcome.call.hangup();
  }
  expect(peer.received.find((message) => label(message) === 'INVITE')?.cseq.number).toBe(1);
});

test('large requests other than INVITE fall back, too', async () => {
  await using peer = await RawPeer.open();
  await using caller = await openBoth();
  peer.onMessage = (message) => {
    if (message.kind === 'request' && message.method !== 'ACK') peer.answer(message, 200, { sdp: PEER_SDP });
  };
  const outcome = await call(caller, peer.port).outcome;
  if (outcome.kind !== 'answered') throw new Error(JSON.stringify(outcome));
  expect(await outcome.call.sendInfo({ contentType: 'text/plain', body: 'y'.repeat(1_300) })).toBe(200);
  expect(ways(caller, 'INFO')).toEqual(['TCP', 'UDP']);
});

test('a call that is taken back while TCP is tried does not go out over UDP', async () => {
  await using peer = await RawPeer.open();
  await using caller = await openBoth();
  const large = call(caller, peer.port, PADDING);
  caller.network.judge = () => {
    large.cancel();
    return 'deliver';
  };
  expect(await large.outcome).toMatchObject({ by: 'local', reason: 'cancelled' });
  expect([ways(caller, 'INVITE'), peer.received]).toEqual([['TCP'], []]);
});

test('a place without TCP is asked again after ten minutes', async () => {
  await using peer = await RawPeer.open();
  const clock = new VirtualClock();
  const network = { canReach: () => true } as Partial<Network> as Network;
  const streams = new StreamSwitch(network, clock);
  const hop = { transport: 'udp', address: '192.0.2.1', port: 5060 } as const;
  const large = { ...peer.request('INVITE', 'sip:bob@h', { lines: PADDING }) };
  expect(messageLength(large)).toBe(writeMessage(large).length);
  expect(messageLength(large)).toBeGreaterThan(MAX_DATAGRAM_BYTES);
  expect(streams.insteadOf(hop, large)).toEqual({ ...hop, transport: 'tcp' });
  streams.failed(hop);
  expect(streams.insteadOf(hop, large)).toBeUndefined();
  expect(streams.insteadOf({ ...hop, port: 5070 }, large)).toBeDefined();
  clock.advance(10 * 60_000);
  expect(streams.insteadOf(hop, large)).toBeDefined();
});
