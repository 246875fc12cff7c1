import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { openNetwork, type Resolver, type TlsSettings } from '../../src/index.ts';
import { addressAsHost } from '../../src/message/uri.ts';
import { CLIENT_TLS, mediaAt, openAgent, pem, SERVER_TLS, type TestAgent, until } from '../kit/agents.ts';
import { RawPeer } from '../kit/raw-peer.ts';
import { VirtualClock } from '../kit/virtual-clock.ts';

function options(to: string, n = 1): string {
  return [
    `OPTIONS ${to} SIP/2.0`,
    `Via: SIP/2.0/TCP 127.0.0.1:9;branch=z9hG4bKopt${n}`,
    'From: <sip:a@h>;tag=1',
    'To: <sip:b@h>',
    `Call-ID: ${n}`,
    'CSeq: 1 OPTIONS',
    'Content-Length: 0',
    '',
    '',
  ].join('\r\n');
}

async function connected(
  port: number,
): Promise<{ socket: Socket; text: () => string; closed: () => boolean }> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  let closed = false;
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.on('error', () => undefined);
  socket.on('close', () => (closed = true));
  await once(socket, 'connect');
  return { socket, text: () => text, closed: () => closed };
}

/** Calls somebody over TCP, to see whether that works. */
function reach({ agent }: TestAgent, port: number) {
  return agent.call({ to: `sip:b@127.0.0.1:${port};transport=tcp`, from: 'sip:a@h', media: mediaAt(1) })
    .outcome;
}

describe('listeners', () => {
  test.each([
    ['a name instead of an address', [{ transport: 'udp', address: 'localhost', port: 0 }]],
    ['every address without one to advertise', [{ transport: 'udp', address: '0.0.0.0', port: 0 }]],
    [
      'one transport twice',
      [
        { transport: 'udp', address: '127.0.0.1', port: 0 },
        { transport: 'udp', address: '127.0.0.1', port: 0 },
      ],
    ],
  ] as const)('refuse %s', async (_, listen) => {
    await expect(openNetwork({ listen })).rejects.toThrow(/listen/);
  });

  test('advertise what they are told to, in Via and Contact', async () => {
    await using peer = await RawPeer.open();
    await using caller = await openAgent({
      listen: { address: '0.0.0.0', advertise: { host: 'sip.public.test', port: 5999 } },
    });
    void caller.agent.call({ to: peer.uri('bob'), from: 'sip:a@h', media: mediaAt(1) });
    const invite = await peer.untilRequest('INVITE');
    expect(invite.via[0]).toMatchObject({ host: 'sip.public.test', port: 5_999 });
    expect(invite.headers.get('Contact')).toBe('<sip:a@sip.public.test:5999>');
    peer.answer(invite, 486);
  });
});

describe('connections', () => {
  test('are used again, and made anew after the far end closed them', async () => {
    await using caller = await openAgent({ transport: 'tcp' });
    const first = await openAgent({ transport: 'tcp', onInvite: (call) => call.reject(486) });
    expect(await reach(caller, first.port)).toMatchObject({ sipStatus: 486 });
    expect(await reach(caller, first.port)).toMatchObject({ sipStatus: 486 });
    expect(caller.agent.stats().connections).toBe(1);
    await first.agent.close();
    await until(() => caller.agent.stats().connections === 0, 'the end of the connection');
    await using again = await openAgent({
      transport: 'tcp',
      listen: { port: first.port },
      onInvite: (call) => call.reject(480),
    });
    expect(await reach(caller, again.port)).toMatchObject({ sipStatus: 480 });
  });

  test('that nobody takes end the call as unreachable', async () => {
    await using caller = await openAgent({ transport: 'tcp' });
    const unused = await openAgent({ transport: 'tcp' });
    await unused.agent.close();
    expect(await reach(caller, unused.port)).toMatchObject({ by: 'network', reason: 'unreachable' });
  });

  test('beyond the limit are refused in both directions', async () => {
    const network = await openNetwork({
      listen: [{ transport: 'tcp', address: '127.0.0.1', port: 0 }],
      connectionLimits: { maxConnections: 2 },
    });
    network.receive({ onMessage: () => undefined, onMalformed: () => undefined });
    const hop = { transport: 'tcp', address: '127.0.0.1', port: 0 } as const;
    const port = network.sentBy(hop)?.port ?? 0;
    const sockets = [await connected(port), await connected(port), await connected(port)];
    await until(() => sockets.filter(({ closed }) => closed()).length === 1, 'one is refused');
    expect(network.stats()).toEqual({ connections: 2, dropped: 1 });
    for (const { socket } of sockets) socket.destroy();
    await network.close();
  });

  test('that bring what is not SIP, or too much of it, are closed', async () => {
    await using callee = await openAgent({ transport: 'tcp' });
    const head = options('sip:b@h').replace('Content-Length: 0', 'Content-Length: 99999999');
    for (const text of [options('sip:b@h').replace('Content-Length: 0', 'X: y'), head, 'x'.repeat(70_000)]) {
      const peer = await connected(callee.port);
      peer.socket.write(text);
      await until(peer.closed, 'the connection is closed');
    }
    expect(callee.agent.stats().connections).toBe(0);
  });

  test('answer a double CRLF with a single one, and go on', async () => {
    await using callee = await openAgent({ transport: 'tcp' });
    const peer = await connected(callee.port);
    peer.socket.write('\r\n\r\n');
    await until(() => peer.text() === '\r\n', 'the pong');
    peer.socket.write(options('sip:b@h'));
    await until(() => peer.text().includes('200 OK'), 'the answer');
    expect(peer.text().startsWith('\r\nSIP/2.0 200 OK\r\n')).toBe(true);
    peer.socket.destroy();
  });

  test('close when they idle, sooner when a message stays unfinished', async () => {
    const clock = new VirtualClock();
    const network = await openNetwork({
      clock,
      listen: [{ transport: 'tcp', address: '127.0.0.1', port: 0 }],
    });
    network.receive({ onMessage: () => undefined, onMalformed: () => undefined });
    const port = network.sentBy({ transport: 'tcp', address: '127.0.0.1', port: 0 })?.port ?? 0;
    const [idle, partial] = [await connected(port), await connected(port)];
    await until(() => network.stats().connections === 2, 'both are accepted');
    partial.socket.write('OPTIONS');
    await until(() => clock.pending === 2, 'the timers');
    // The bytes must have arrived before time moves on.
    await until(() => {
      clock.advance(1_000);
      return partial.closed();
    }, 'the unfinished one is closed');
    expect(clock.now()).toBeLessThan(29 * 60_000);
    expect(idle.closed()).toBe(false);
    clock.advance(30 * 60_000);
    await until(idle.closed, 'the idle one is closed');
    await network.close();
    expect(clock.pending).toBe(0);
  });

  test('whose far end never reads fail instead of filling memory', async () => {
    const server = createServer((socket) => socket.pause()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const bound = server.address();
    const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
    const network = await openNetwork({
      listen: [{ transport: 'tcp', address: '127.0.0.1', port: 0 }],
      connectionLimits: { maxQueuedBytes: 50_000 },
    });
    await using peer = await RawPeer.open();
    const body = Buffer.alloc(40_000);
    const hop = { transport: 'tcp', address: '127.0.0.1', port } as const;
    const failures: string[] = [];
    for (let n = 0; n < 400 && failures.length === 0; n += 1) {
      void network
        .sendRequest({ ...peer.request('INFO', 'sip:b@h'), body }, hop)
        .then((outcome) => outcome.kind === 'failed' && failures.push(outcome.why));
      await new Promise(setImmediate);
    }
    expect(failures[0]).toBe('far end does not read');
    await network.close();
    server.close();
  });
});

describe('TLS', () => {
  const resolver: Resolver = { srv: async () => [], addresses: async () => ['127.0.0.1'] };

  async function ask(host: string, client: TlsSettings, server: TlsSettings = SERVER_TLS) {
    await using callee = await openAgent({
      transport: 'tls',
      listen: { tls: server },
      onInvite: (call) => call.reject(486),
    });
    await using caller = await openAgent({ transport: 'tls', resolver, listen: { tls: client } });
    return await caller.agent.call({
      to: `sips:b@${host}:${callee.port}`,
      from: 'sip:a@h',
      media: mediaAt(1),
    }).outcome;
  }

  const trusting: TlsSettings = { authorities: pem('authority') };

  test.each(['sip.test', 'uri.test', '127.0.0.1'])(
    'trusts a certificate for %s, as DNS name, SIP URI or address',
    async (host) => {
      expect(await ask(host, trusting)).toMatchObject({ sipStatus: 486 });
    },
  );

  test.each<[string, string, TlsSettings, TlsSettings]>([
    ['of another name', 'other.test', trusting, SERVER_TLS],
    ['of an unknown authority', 'sip.test', {}, SERVER_TLS],
    [
      'that the server wants and we do not have',
      'sip.test',
      trusting,
      { ...SERVER_TLS, requireClientCertificate: true },
    ],
  ])('ends a call at a certificate %s', async (_, host, client, server) => {
    expect(await ask(host, client, server)).toMatchObject({
      by: 'network',
      reason: expect.stringMatching(/unreachable|no_response/) as unknown,
    });
  });

  test('shows its client certificate to a server that asks', async () => {
    expect(
      await ask('sip.test', CLIENT_TLS, { ...SERVER_TLS, requireClientCertificate: true }),
    ).toMatchObject({ sipStatus: 486 });
  });

  test('takes requests from the far end over the connection that it opened itself', async () => {
    await using callee = await openAgent({
      transport: 'tls',
      onInvite: (call) =>
        void call
          .accept({ media: mediaAt(2) })
          .then((end) => end.kind === 'answered' && setTimeout(() => void end.call.hold(), 10)),
    });
    await using caller = await openAgent({ transport: 'tls' });
    const directions: string[] = [];
    const outcome = await caller.agent.call({
      to: callee.uri('b'),
      from: caller.uri('a'),
      media: mediaAt(1),
      onMedia: ({ direction }) => directions.push(direction),
    }).outcome;
    expect(outcome.kind).toBe('answered');
    await until(() => directions.at(-1) === 'recvonly', 'the hold of the callee');
  });
});

test('addresses become hosts and stay what they are', () => {
  expect([addressAsHost('::1'), addressAsHost('127.0.0.1')]).toEqual(['[::1]', '127.0.0.1']);
});

test('a message that could inject a header is not sent, whatever made it, and nothing else happens', async () => {
  await using peer = await RawPeer.open();
  const network = await openNetwork({ listen: [{ transport: 'udp', address: '127.0.0.1', port: 0 }] });
  const hop = { transport: 'udp', address: '127.0.0.1', port: peer.port } as const;
  const request = peer.request('OPTIONS', 'sip:b@h');
  const evil = { ...request, callId: 'x\r\nEvil: 1' };
  expect(await network.sendRequest(evil, hop)).toEqual({
    kind: 'failed',
    why: 'a line break inside a header',
  });
  expect(await network.sendRequest(request, hop)).toEqual({ kind: 'sent' });
  await peer.until('OPTIONS');
  expect(peer.received).toHaveLength(1);
  await network.close();
});
