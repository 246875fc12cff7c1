import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/platform/clock.ts';
import { createDestinations, createResolve, type Resolve } from '../../../src/publication/destination.ts';
import { createPoster, type Answer } from '../../../src/publication/post.ts';
import { startNameServer } from '../../kit/name-server.ts';
import { answers, authorities, hangs, identity, startReceiver, type Receiver } from '../../kit/receiver.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

interface Options {
  readonly allow?: readonly string[];
  readonly resolve?: Resolve;
  readonly timeoutMs?: number;
  readonly trusts?: boolean;
}

function poster({ allow = [], resolve = async () => [], timeoutMs = 5_000, trusts = true }: Options = {}) {
  const destinations = createDestinations({ allow: new Set(allow), resolve, clock: systemClock });
  const made = createPoster({
    destinations,
    clock: systemClock,
    timeoutMs,
    authorities: trusts ? authorities : null,
  });
  cleanUp.push(() => made.close());
  return made;
}

async function receiver(...manner: Parameters<typeof startReceiver>): Promise<Receiver> {
  const started = await startReceiver(...manner);
  cleanUp.push(() => started.close());
  return started;
}

const never = new AbortController().signal;
const order = (url: string, body = '{"id":"evt_1"}') => ({
  url,
  headers: { 'content-type': 'application/json' },
  body,
});

/** One try to a receiver that the operator allows. */
function post(to: Receiver, options: Options = {}, path = '/hook?a=b'): Promise<Answer> {
  return poster({ allow: [`127.0.0.1:${to.port}`], ...options }).post(order(`${to.origin}${path}`), never);
}

/** A receiver that is no HTTP server: it says what it likes once a request has begun. */
async function rawReceiver(talk: (socket: Socket) => unknown): Promise<Receiver> {
  const server = createTlsServer(identity, (socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => talk(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  cleanUp.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  const unused = () => {
    throw new Error('not an HTTP server');
  };
  return {
    port,
    origin: `https://127.0.0.1:${port}`,
    got: [],
    connections: unused,
    behave: unused,
    close: unused,
  };
}

describe('a try', () => {
  it('sends the bytes and headers, and tells status, Retry-After and the beginning of the answer', async () => {
    const to = await receiver((_got, response) => {
      response.writeHead(503, { 'retry-after': '7' }).end(`no\0 ${'x'.repeat(5_000)}`);
    });
    const body = JSON.stringify({ text: 'Grüße 🙂' });
    const { post: send } = poster({ allow: [`127.0.0.1:${to.port}`] });
    const answer = await send(order(`${to.origin}/hook?a=b`, body), never);
    expect(answer).toMatchObject({ kind: 'answered', status: 503, retryAfterMs: 7_000 });
    expect(answer).toMatchObject({ text: expect.stringMatching(/^no\uFFFD x{1020}$/) });
    expect(to.got).toMatchObject([
      { path: '/hook?a=b', body, headers: { 'content-length': String(Buffer.byteLength(body)) } },
    ]);
  });

  it.each([301, 302, 303, 307, 308])('does not follow a redirect (%i)', async (status) => {
    const other = await receiver();
    const to = await receiver(answers(status, { location: `${other.origin}/` }));
    expect(await post(to)).toMatchObject({ kind: 'answered', status });
    expect(other.got).toEqual([]);
  });

  it('ends after its time when the receiver hangs', async () => {
    const to = await receiver(hangs);
    const startedAt = performance.now();
    expect(await post(to, { timeoutMs: 300 })).toEqual({ kind: 'unanswered', error: 'timeout' });
    expect(performance.now() - startedAt).toBeLessThan(3_000);
  });

  it('ends after its time when the receiver drips its headers', async () => {
    const to = await rawReceiver((socket) => {
      const drip = setInterval(() => socket.write('X'), 20);
      socket.write('HTTP/1.1 200 OK\r\n');
      socket.once('close', () => clearInterval(drip));
    });
    expect(await post(to, { timeoutMs: 300 })).toEqual({ kind: 'unanswered', error: 'timeout' });
  });

  it('goes by the status when the receiver drips its body, and closes the connection', async () => {
    const closed = Promise.withResolvers<undefined>();
    const to = await rawReceiver((socket) => {
      const drip = setInterval(() => socket.write('.'), 20);
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n');
      socket.once('close', () => {
        clearInterval(drip);
        closed.resolve(undefined);
      });
    });
    expect(await post(to)).toMatchObject({
      kind: 'answered',
      status: 200,
      text: expect.stringMatching(/^\.+$/),
    });
    await closed.promise;
  });

  it('reads a bounded part of an endless body', async () => {
    let sent = 0;
    const to = await rawReceiver((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const chunk = `4000\r\n${'x'.repeat(0x4000)}\r\n`;
      const pour = (): void => {
        while (!socket.destroyed && socket.write(chunk)) sent += chunk.length;
        socket.once('drain', pour);
      };
      pour();
    });
    expect(await post(to)).toMatchObject({ kind: 'answered', status: 200, text: 'x'.repeat(1_024) });
    expect(sent).toBeLessThan(64 * 1_024 * 1_024);
  });

  it.each([
    ['promises more than it sends', 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort'],
    ['sends more than it promises', 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nshort and then some'],
  ])('goes by the status when the receiver %s', async (_name, text) => {
    const to = await rawReceiver((socket) => void socket.end(text));
    expect(await post(to)).toMatchObject({ kind: 'answered', status: 200, text: 'short' });
  });

  it.each<[string, (socket: Socket) => unknown, string]>([
    ['resets the connection', (socket) => socket.destroy(), 'connection_lost'],
    ['speaks no HTTP', (socket) => socket.end('hello\r\n\r\n'), 'bad_response'],
    [
      'changes the protocol',
      (socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      'bad_response',
    ],
    [
      'sends headers without end',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(10_000)}`),
      'bad_response',
    ],
  ])('fails when the receiver %s', async (_name, talk, error) => {
    expect(await post(await rawReceiver(talk))).toEqual({ kind: 'unanswered', error });
  });

  it('fails when nobody listens', async () => {
    const to = await startReceiver();
    await to.close();
    expect(await post(to)).toEqual({ kind: 'unanswered', error: 'connection_refused' });
  });

  it('fails when the certificate is not trusted, or is another name’s', async () => {
    const to = await receiver();
    expect(await post(to, { trusts: false })).toEqual({ kind: 'unanswered', error: 'tls_failed' });
    const { post: send } = poster({ allow: [`other.test:${to.port}`], resolve: async () => ['127.0.0.1'] });
    expect(await send(order(`https://other.test:${to.port}/`), never)).toEqual({
      kind: 'unanswered',
      error: 'tls_failed',
    });
    expect(to.got).toEqual([]);
  });

  it('is cut off when its process stops', async () => {
    const stop = new AbortController();
    const to = await receiver(() => stop.abort());
    const { post: send } = poster({ allow: [`127.0.0.1:${to.port}`] });
    expect(await send(order(to.origin), stop.signal)).toEqual({ kind: 'unanswered', error: 'interrupted' });
    expect(await send(order(to.origin), stop.signal)).toEqual({ kind: 'unanswered', error: 'interrupted' });
  });
});

describe('connections', () => {
  it('are used again', async () => {
    const to = await receiver();
    const { post: send } = poster({ allow: [`127.0.0.1:${to.port}`] });
    for (let count = 0; count < 5; count += 1) await send(order(to.origin), never);
    expect(to.got).toHaveLength(5);
    expect(to.connections()).toBe(1);
  });

  it('that the receiver closed meanwhile cost no try', async () => {
    const to = await receiver();
    const { post: send } = poster({ allow: [`127.0.0.1:${to.port}`] });
    await send(order(to.origin), never);
    to.behave((got, response, request) => {
      // As a receiver does that closes an idle connection in the same moment.
      if (to.connections() === 1) request.socket.destroy();
      else answers(204)(got, response, request);
    });
    expect(await send(order(to.origin), never)).toMatchObject({ kind: 'answered', status: 204 });
  });

  it('take no proxy from the environment', async () => {
    const proxy = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    cleanUp.push(() => proxy.close());
    let asked = 0;
    proxy.on('connection', () => (asked += 1));
    const before = { ...process.env };
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    Object.assign(process.env, {
      HTTP_PROXY: url,
      HTTPS_PROXY: url,
      https_proxy: url,
      NODE_USE_ENV_PROXY: '1',
    });
    const answer = await post(await receiver());
    process.env = before;
    expect(answer).toMatchObject({ status: 200 });
    expect(asked).toBe(0);
  });
});

describe('the address that is connected to', () => {
  it('is the one that was vetted, by every name and address of the URL', async () => {
    const to = await receiver();
    const servers = await startNameServer({ 'hook.receiver.test': [['127.0.0.1']] });
    cleanUp.push(() => servers.close());
    const resolve = createResolve([servers.address]);
    const allowed = poster({ allow: [`hook.receiver.test:${to.port}`], resolve });
    expect(await allowed.post(order(`https://hook.receiver.test:${to.port}/`), never)).toMatchObject({
      status: 200,
    });
    expect(servers.asked('hook.receiver.test')).toBe(1);
    expect(to.got).toMatchObject([{ headers: { host: `hook.receiver.test:${to.port}` } }]);
  });

  it.each(['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]', '[::1]', '[64:ff9b::7f00:1]'])(
    'is never private: %s',
    async (host) => {
      const to = await receiver();
      const answer = await poster().post(order(`https://${host}:${to.port}/`), never);
      expect(answer).toEqual({ kind: 'unanswered', error: 'destination_refused' });
      expect(to.connections()).toBe(0);
    },
  );

  it('is not private either when a name changes after it was checked', async () => {
    const to = await receiver();
    const names = await startNameServer({
      'rebind.receiver.test': [['8.8.8.8'], ['127.0.0.1']],
      'mixed.receiver.test': [['8.8.8.8'], ['8.8.8.8', '127.0.0.1']],
      'six.receiver.test': [['8.8.8.8'], ['::ffff:127.0.0.1']],
    });
    cleanUp.push(() => names.close());
    const resolve = createResolve([names.address]);
    const destinations = createDestinations({ allow: new Set(), resolve, clock: systemClock });
    for (const name of ['rebind.receiver.test', 'mixed.receiver.test', 'six.receiver.test']) {
      const url = `https://${name}:${to.port}/`;
      expect(await destinations.checkDestination(url)).toBeNull();
      expect(await poster({ resolve }).post(order(url), never)).toEqual({
        kind: 'unanswered',
        error: 'destination_refused',
      });
      expect(names.asked(name)).toBe(2);
    }
    expect(to.connections()).toBe(0);
  });

  it('is none when the name can not be resolved', async () => {
    const names = await startNameServer({});
    cleanUp.push(() => names.close());
    const { post: send } = poster({ resolve: createResolve([names.address]) });
    expect(await send(order('https://nowhere.example/'), never)).toEqual({
      kind: 'unanswered',
      error: 'dns_failed',
    });
  });
});
