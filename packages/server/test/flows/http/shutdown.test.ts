import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { expectWellFormed } from './envelope.ts';
import { parseResponses, readAll, startService, type Service } from './service.ts';

describe('the end of the service', () => {
  let service: Service;
  let gate: PromiseWithResolvers<void>;
  let waiting: PromiseWithResolvers<void>;

  /** Ready to be asked; the answer waits for the gate. */
  async function ready(): Promise<readonly string[]> {
    waiting.resolve();
    await gate.promise;
    return [];
  }

  beforeEach(async () => {
    gate = Promise.withResolvers();
    waiting = Promise.withResolvers();
    service = await startService({ over: { ready }, settings: { drainTimeoutMs: 60_000 } });
  });
  afterEach(async () => {
    gate.resolve();
    await service.close();
  });

  async function open(bytes: string): Promise<{ socket: Socket; answer: Promise<Buffer> }> {
    const socket = connect(service.port, '127.0.0.1');
    await once(socket, 'connect');
    const answer = readAll(socket);
    await new Promise((resolve) => socket.write(bytes, resolve));
    return { socket, answer };
  }

  const slowRequest = 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n';

  it('lets a request in flight finish, and closes its connection instead of keeping it alive', async () => {
    const { answer } = await open(slowRequest);
    await waiting.promise;
    const closed = service.app.close();
    await refusesConnections(service.port);
    gate.resolve();
    const [response] = parseResponses(await answer);
    expect(response?.status).toBe(200);
    expect(response?.headers.get('connection')).toBe('close');
    await closed;
  });

  it('closes idle connections at once, and takes no new ones', async () => {
    const { socket, answer } = await open('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(socket, 'data');
    await service.app.close();
    expect(parseResponses(await answer)[0]?.status).toBe(200);
    await expect(fetch(`${service.origin}/livez`)).rejects.toThrow('fetch failed');
  });

  it('answers 503 with the envelope to a request that arrives on an open connection', async () => {
    const inFlight = await open(slowRequest);
    await waiting.promise;
    const halfSent = await open('GET /readyz HTTP/1.1\r\n');
    // The server has the half when it answers on a connection that was made behind it.
    await service.fetch('/livez');
    const closed = service.app.close();
    await refusesConnections(service.port);
    halfSent.socket.write('Host: x\r\n\r\n');
    const [response] = parseResponses(await halfSent.answer);
    if (response === undefined) throw new Error('no response');
    expect(response.status).toBe(503);
    expect(response.headers.get('connection')).toBe('close');
    expect(response.headers.get('retry-after')).toBe('1');
    expectWellFormed(503, (name) => response.headers.get(name), response.body);
    gate.resolve();
    expect(parseResponses(await inFlight.answer)[0]?.status).toBe(200);
    await closed;
  });

  it('cuts off what does not finish within the bound', async () => {
    const { answer } = await open(slowRequest);
    await waiting.promise;
    const closed = service.app.close();
    await refusesConnections(service.port);
    service.clock.advance(60_000);
    expect(await answer).toHaveLength(0);
    await closed;
  });
});

/** Ends when the port takes no more connections, so when the service has begun to close. */
async function refusesConnections(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const open = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    });
    socket.destroy();
    if (!open) return;
  }
}
