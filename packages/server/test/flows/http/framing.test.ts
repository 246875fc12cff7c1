import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../kit/until.ts';
import { refusal, expectWellFormed } from './envelope.ts';
import {
  exchangeRaw,
  ids,
  parseResponses,
  readAll,
  startService,
  type RawResponse,
  type Service,
} from './service.ts';

let service: Service;
/** What /readyz waits for. */
let gate: PromiseWithResolvers<void> | undefined;

beforeAll(async () => {
  service = await startService({
    settings: { headersTimeoutMs: 400, requestTimeoutMs: 800 },
    over: { ready: async () => (await gate?.promise, []) },
  });
});
afterAll(() => service.close());

const big = (nameLength: number) =>
  JSON.stringify({ phone: '+12025550100', variables: { name: 'a'.repeat(nameLength) } });
const valid = JSON.stringify({ phone: '+12025550100', variables: { name: 'Ada' } });

function headLines(extra: readonly string[] = []): string[] {
  return [
    'Host: localhost',
    `Authorization: Bearer ${service.key}`,
    'Content-Type: application/json',
    `Idempotency-Key: ${ids.next('evt')}`,
    ...extra,
  ];
}

function message(requestLine: string, headers: readonly string[], body = ''): string {
  return `${requestLine}\r\n${headers.join('\r\n')}\r\n\r\n${body}`;
}

const postLine = () => `POST /v1/goals/${service.goalId}/runs HTTP/1.1`;

async function soleResponse(bytes: string | Buffer): Promise<RawResponse> {
  const responses = await exchangeRaw(service.port, bytes);
  expect(responses).toHaveLength(1);
  const [response] = responses;
  if (response === undefined) throw new Error('no response');
  expectWellFormed(response.status, (name) => response.headers.get(name), response.body);
  return response;
}

const code = (response: RawResponse): unknown => JSON.parse(response.body).error.code;

describe('what the HTTP parser refuses by itself', () => {
  const malformed: readonly (readonly [string, () => string])[] = [
    ['no HTTP at all', () => 'hello\r\n\r\n'],
    ['a method that HTTP does not know', () => 'FETCH /v1/goals HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an HTTP version that is none', () => 'GET /v1/goals HTTP/9.9\r\nHost: x\r\n\r\n'],
    ['a TLS handshake', () => '\u0016\u0003\u0001\u0002\u0000\u0001\u0000'],
    ['a header without a colon', () => 'GET /livez HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n'],
    ['a NUL in a header', () => 'GET /livez HTTP/1.1\r\nHost: x\r\nA: b\u0000c\r\n\r\n'],
    ['a folded header', () => 'GET /livez HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n'],
    [
      'both Transfer-Encoding and Content-Length',
      () => message(postLine(), headLines(['Content-Length: 4', 'Transfer-Encoding: chunked']), '0\r\n\r\n'),
    ],
    ['two lengths', () => message(postLine(), headLines(['Content-Length: 2', 'Content-Length: 3']), '{}{')],
    ['a length that is no number', () => message(postLine(), headLines(['Content-Length: two']), '{}')],
    ['a negative length', () => message(postLine(), headLines(['Content-Length: -1']), '{}')],
    [
      'a Transfer-Encoding that does not end in chunked',
      () => message(postLine(), headLines(['Transfer-Encoding: chunked, identity']), '0\r\n\r\n'),
    ],
    [
      'a chunk size that is no number',
      () => message(postLine(), headLines(['Transfer-Encoding: chunked']), 'xyz\r\n{}\r\n'),
    ],
    [
      'a chunk that is longer than its size',
      () => message(postLine(), headLines(['Transfer-Encoding: chunked']), '2\r\n{}{}\r\n0\r\n\r\n'),
    ],
  ];

  it.each(malformed)(
    'answers 400 with the envelope to %s, and closes the connection',
    async (_name, bytes) => {
      const response = await soleResponse(bytes());
      expect(response.status).toBe(400);
      expect(code(response)).toBe('invalid_request');
      expect(response.headers.get('connection')).toBe('close');
    },
  );

  it('answers 431 to headers of more than 16 KiB', async () => {
    const response = await soleResponse(
      message('GET /livez HTTP/1.1', ['Host: x', `A: ${'a'.repeat(17_000)}`]),
    );
    expect(response.status).toBe(431);
    expect(code(response)).toBe('headers_too_large');
  });

  it('answers 431 to a path of more than 16 KiB', async () => {
    const response = await soleResponse(message(`GET /${'a'.repeat(17_000)} HTTP/1.1`, ['Host: x']));
    expect(response.status).toBe(431);
  });

  it('answers 413 to endless chunk extensions', async () => {
    const body = `2;${'e'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`;
    const response = await soleResponse(message(postLine(), headLines(['Transfer-Encoding: chunked']), body));
    expect(response.status).toBe(413);
  });

  it('answers 408 when the headers do not come', async () => {
    const response = await soleResponse('GET /livez HTTP/1.1\r\nHost: x\r\n');
    expect(response.status).toBe(408);
    expect(code(response)).toBe('request_timeout');
  });

  it('answers 408 when the body does not come', async () => {
    const response = await soleResponse(message(postLine(), headLines(['Content-Length: 50']), '{"phone"'));
    expect(response.status).toBe(408);
  });

  it('answers 405 to CONNECT', async () => {
    const response = await soleResponse('CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n');
    expect(response.status).toBe(405);
    expect(response.headers.has('allow')).toBe(true);
  });

  it('answers 400 to HTTP/1.1 without Host and to two of them', async () => {
    expect((await soleResponse('GET /livez HTTP/1.1\r\nConnection: close\r\n\r\n')).status).toBe(400);
    expect(
      (await soleResponse('GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n')).status,
    ).toBe(400);
    expect((await soleResponse('GET /livez HTTP/1.0\r\n\r\n')).status).toBe(200);
  });

  it('ignores an expectation that it does not know', async () => {
    const response = await soleResponse(
      message('GET /livez HTTP/1.1', ['Host: x', 'Expect: tea', 'Connection: close']),
    );
    expect(response.status).toBe(200);
  });

  it('ignores an offer to upgrade', async () => {
    const headers = ['Host: x', 'Connection: Upgrade, close', 'Upgrade: websocket'];
    expect((await soleResponse(message('GET /livez HTTP/1.1', headers))).status).toBe(200);
  });

  it.each([
    ['that can be told which to take', {}],
    // As before 22.21 and 24.9 wherever some offers are taken.
    ['that would take all of them', { shouldUpgradeCallback: () => true }],
  ])('ignores an offer of h2c and takes nothing behind it, on a Node.js %s', async (_which, older) => {
    const { server } = service.app;
    const { shouldUpgradeCallback } = server as typeof server & { shouldUpgradeCallback: unknown };
    Object.assign(server, older);
    const offer = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABk'];
    const length = `Content-Length: ${valid.length}`;
    const posted = await soleResponse(message(postLine(), headLines([...offer, length]), valid));
    expect(posted.status).toBe(201);

    // The head of the second request is lost in Node's parser; its body must not become a third.
    gate = Promise.withResolvers();
    const body = message('GET /v1/goals HTTP/1.1', headLines());
    const socket = connect(service.port, '127.0.0.1');
    const answers = readAll(socket);
    const came = once(server, 'request');
    socket.write(
      message('GET /readyz HTTP/1.1', ['Host: x', ...offer]) +
        message('POST /readyz HTTP/1.1', ['Host: x', `Content-Length: ${body.length}`]),
    );
    await came;
    const behind = service.logged().length;
    socket.write(body);
    await until(() => service.logged().length > behind, 'what becomes of it');
    expect(service.logged().slice(behind)).toContain('"status":400,"code":"invalid_request","key_id":null');
    gate.resolve();
    expect(parseResponses(await answers).map(({ status }) => status)).toEqual([200]);
    Object.assign(server, { shouldUpgradeCallback });
  });

  it('takes the absolute form of a path', async () => {
    const response = await soleResponse(
      message('GET http://anywhere/livez HTTP/1.1', ['Host: x', 'Connection: close']),
    );
    expect(response.status).toBe(200);
  });

  it.each([
    '*',
    '/%',
    '/v1/goals/%ff%fe',
    '/v1/goals/%00',
    `/v1/goals/${'a'.repeat(300)}`,
    '//',
    '/v1//goals',
  ])('answers 400 or 404 to the path %s', async (path) => {
    const bytes = message(`GET ${path} HTTP/1.1`, [...headLines(), 'Connection: close']);
    expect([400, 404]).toContain((await soleResponse(bytes)).status);
  });

  it('lets an accepted request finish before it closes on the garbage behind it', async () => {
    gate = Promise.withResolvers();
    const refused = once(service.app.server, 'clientError');
    const answer = exchangeRaw(service.port, 'GET /readyz HTTP/1.1\r\nHost: x\r\n\r\nGARBAGE\r\n\r\n');
    await refused;
    gate.resolve();
    expect((await answer).map(({ status }) => status)).toEqual([200]);
  });

  it('counts headers beyond the two-thousandth', async () => {
    const filler = Array.from({ length: 2_100 }, () => 'a:');
    const headers = ['Host: x', `Authorization: Bearer ${service.key}`, ...filler, 'Authorization: Bearer b'];
    const response = await soleResponse(message('GET /v1/goals HTTP/1.1', [...headers, 'Connection: close']));
    expect(response.status).toBe(401);
  });
});

describe('bodies', () => {
  it('takes one of exactly 64 KiB and refuses one byte more', async () => {
    const frame = big(0).length;
    expect((await service.post(big(65_536 - frame))).status).toBe(201);
    expect(await refusal(await service.post(big(65_537 - frame)))).toBe('413 payload_too_large');
  });

  it('lets a client that is still sending see its 413, and goes on with the connection', async () => {
    const body = 'a'.repeat(500_000);
    const tooLarge = message(postLine(), headLines([`Content-Length: ${body.length}`]), body);
    const responses = await exchangeRaw(
      service.port,
      `${tooLarge}${message('GET /livez HTTP/1.1', ['Host: x', 'Connection: close'])}`,
    );
    expect(responses.map(({ status }) => status)).toEqual([413, 200]);
  });

  it('cuts off a client that goes on and on after its 413', async () => {
    const socket = connect(service.port, '127.0.0.1');
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    const closed = readAll(socket);
    socket.write(message(postLine(), headLines(['Transfer-Encoding: chunked'])));
    const chunk = `10000\r\n${'a'.repeat(0x1_0000)}\r\n`;
    let sent = 0;
    const pour = () => {
      while (!socket.destroyed && sent < 1_000) {
        sent += 1;
        if (!socket.write(chunk)) {
          socket.once('drain', pour);
          return;
        }
      }
    };
    pour();
    const [response] = parseResponses(await closed);
    expect(response?.status).toBe(413);
    expect(sent).toBeLessThan(1_000);
  });

  it('closes the connection when the rest of a body that was refused turns out to be broken', async () => {
    const socket = connect(service.port, '127.0.0.1');
    await once(socket, 'connect');
    const closed = readAll(socket);
    socket.write(
      message(postLine(), headLines(['Transfer-Encoding: chunked']), `11000\r\n${'a'.repeat(0x1_1000)}\r\n`),
    );
    await once(socket, 'data');
    socket.write('no chunk\r\n');
    expect(parseResponses(await closed).map(({ status }) => status)).toEqual([413]);
  });

  it('reads chunked bodies and bodies that arrive byte by byte', async () => {
    const chunked = `${valid.length.toString(16)}\r\n${valid}\r\n0\r\n\r\n`;
    const headers = headLines(['Transfer-Encoding: chunked', 'Connection: close']);
    expect((await soleResponse(message(postLine(), headers, chunked))).status).toBe(201);

    const socket = connect(service.port, '127.0.0.1');
    socket.setNoDelay(true);
    await once(socket, 'connect');
    const answer = readAll(socket);
    const bytes = message(
      postLine(),
      headLines([`Content-Length: ${valid.length}`, 'Connection: close']),
      valid,
    );
    for (const byte of bytes) {
      await new Promise((resolve) => socket.write(byte, resolve));
    }
    expect(parseResponses(await answer)[0]?.status).toBe(201);
  });

  it('answers a client that asks before it sends', async () => {
    const headers = headLines([
      `Content-Length: ${valid.length}`,
      'Expect: 100-continue',
      'Connection: close',
    ]);
    expect((await soleResponse(message(postLine(), headers, valid))).status).toBe(201);
  });

  it('survives clients that leave in the middle of a body', async () => {
    for (let round = 0; round < 20; round += 1) {
      const socket = connect(service.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(message(postLine(), headLines(['Content-Length: 500']), '{"phone":'));
      socket.resetAndDestroy();
    }
    expect((await service.fetch('/livez')).status).toBe(200);
  });

  it('ignores the body of a GET', async () => {
    const bytes = message(
      'GET /livez HTTP/1.1',
      ['Host: x', 'Content-Length: 3', 'Connection: close'],
      '{{{',
    );
    expect((await soleResponse(bytes)).status).toBe(200);
  });
});

describe('methods', () => {
  it.each([
    ['PUT', '/v1/goals', 'GET, HEAD'],
    ['DELETE', '/v1/goals/goal_1', 'GET, HEAD'],
    ['GET', '/v1/goals/goal_1/runs', 'POST'],
    ['OPTIONS', '/v1/goals/goal_1/runs', 'POST'],
    ['PATCH', '/v1/goals/goal_1/runs/grun_1', 'GET, HEAD'],
    ['POST', '/livez', 'GET, HEAD'],
    ['PROPFIND', '/v1/goals', 'GET, HEAD'],
    ['QUERY', '/v1/goals', 'GET, HEAD'],
    ['TRACE', '/v1/goals', 'GET, HEAD'],
  ])('answers 405 to %s %s, with those that are allowed', async (method, path, allowed) => {
    const response = await soleResponse(
      message(`${method} ${path} HTTP/1.1`, ['Host: x', 'Content-Length: 0', 'Connection: close']),
    );
    expect(response.status).toBe(405);
    expect(code(response)).toBe('method_not_allowed');
    expect(response.headers.get('allow')).toBe(allowed);
  });

  it.each(['POST', 'DELETE', 'OPTIONS', 'TRACE', 'GET'])(
    'answers 404 to %s on an unknown path',
    async (method) => {
      const response = await soleResponse(
        message(
          `${method} /v1/nothing HTTP/1.1`,
          ['Host: x', 'Content-Type: ;;;', 'Content-Length: 2', 'Connection: close'],
          '{}',
        ),
      );
      expect(response.status).toBe(404);
    },
  );

  it('answers HEAD as GET without the body', async () => {
    const response = await service.fetch('/v1/goals', { method: 'HEAD' });
    expect(response.status).toBe(200);
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(100);
    expect(await response.text()).toBe('');
    expect((await service.fetch('/v1/goals/goal_1', { method: 'HEAD' })).status).toBe(404);
  });
});

describe('request ids', () => {
  it('are ours, whatever the client sends', async () => {
    const response = await service.fetch('/livez', {
      headers: { 'request-id': 'req_forged', 'x-request-id': 'forged' },
    });
    expect(response.headers.get('request-id')).toMatch(/^req_[0-9a-z]{26}$/);
    expect(response.headers.get('request-id')).not.toBe('req_forged');
  });
});
