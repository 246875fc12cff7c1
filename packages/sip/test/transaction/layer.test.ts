import { expect, test } from 'vitest';
import { openNetwork, systemClock, systemRandom } from '../../src/index.ts';
import { responseTo } from '../../src/message/message.ts';
import { type ServerTransaction, TransactionLayer } from '../../src/transaction/layer.ts';
import { mediaAt, openAgent, SHORT_TIMERS, until } from '../kit/agents.ts';
import { PEER_SDP, RawPeer } from '../kit/raw-peer.ts';
import { label } from '../kit/tapped-network.ts';

test('a full table refuses what would go out and drops what comes in', async () => {
  await using peer = await RawPeer.open();
  await using agent = await openAgent({ maxTransactions: 1, onInvite: (call) => call.ring() });
  const first = agent.agent.call({ to: peer.uri('a'), from: 'sip:x@h', media: mediaAt(1) });
  await peer.until('INVITE');
  const second = agent.agent.call({ to: peer.uri('b'), from: 'sip:x@h', media: mediaAt(1) });
  expect(await second.outcome).toMatchObject({ by: 'network', reason: 'unreachable' });
  peer.send(peer.request('INVITE', agent.uri('x'), { sdp: PEER_SDP }), agent.port);
  await until(
    () => agent.network.received.some((message) => message.kind === 'request'),
    'the INVITE from outside',
  );
  expect(agent.agent.stats()).toMatchObject({ transactions: 1, dialogs: 0 });
  expect(await first.outcome).toMatchObject({ reason: 'no_response' });
  expect(peer.received.map(label)).not.toContain('100 INVITE');
});

test('a request from a peer of RFC 2543, without a branch, is answered once and its ACK taken', async () => {
  const rang: string[] = [];
  await using peer = await RawPeer.open();
  await using agent = await openAgent({
    onInvite: (call) => {
      rang.push(call.callId);
      call.reject(486);
    },
  });
  const old = (method: string, toTag?: string) => {
    const request = peer.request(method, agent.uri('x'), {
      ...(toTag === undefined ? {} : { toTag }),
      cseq: 9,
    });
    const [via] = request.via;
    return { ...request, via: via === undefined ? [] : [{ ...via, params: new Map([['rport', null]]) }] };
  };
  peer.send(old('INVITE'), agent.port);
  peer.send(old('INVITE'), agent.port);
  const refusal = await peer.until('486 INVITE');
  peer.send({ ...old('ACK'), to: refusal.to }, agent.port);
  await until(() => agent.agent.stats().transactions === 0, 'the end of the transaction');
  expect(rang).toHaveLength(1);
});

test('after a final response nothing else is sent, but a 2xx may be repeated', async () => {
  await using peer = await RawPeer.open();
  const network = await openNetwork({ listen: [{ transport: 'udp', address: '127.0.0.1', port: 0 }] });
  const options = {
    network,
    clock: systemClock,
    random: systemRandom,
    timers: SHORT_TIMERS,
    maxTransactions: 10,
  };
  const answers: Record<string, readonly number[]> = {
    refused: [180, 486, 200, 180, 603],
    taken: [180, 200, 486, 200],
  };
  const layer = new TransactionLayer(options, {
    onRequest(transaction: ServerTransaction) {
      const { request } = transaction;
      for (const status of answers[request.callId] ?? [])
        transaction.respond(responseTo(request, status, { toTag: 'x' }));
    },
    onAck: () => undefined,
    onCancel: () => undefined,
    onMalformed: () => undefined,
  });
  const port = network.sentBy({ transport: 'udp', address: '127.0.0.1', port: 0 })?.port ?? 0;
  for (const callId of Object.keys(answers)) peer.send(peer.request('INVITE', 'sip:b@h', { callId }), port);
  const heard = (callId: string) => peer.received.filter((message) => message.callId === callId).map(label);
  await until(() => heard('taken').length >= 3 && heard('refused').length >= 3, 'the answers');
  expect(heard('taken')).toEqual(['180 INVITE', '200 INVITE', '200 INVITE']);
  // The refusal repeats itself until its ACK.
  expect(new Set(heard('refused'))).toEqual(new Set(['180 INVITE', '486 INVITE']));
  layer.close();
  expect(layer.size).toBe(0);
  await network.close();
});
