/**
 * 100,000 mutated requests. Whatever is sent, the answer is one of the statuses of the contract, never 5xx, in the
 * right form; nothing is polluted, and the service goes on.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formProblems } from './envelope.ts';
import { exchangeRaw, ids, parseResponses, startService, type RawResponse, type Service } from './service.ts';

const requestsInAll = 100_000;
const batchSize = 250;
/** Of a batch, this many on connections of their own, because they may break the framing. */
const framingPerBatch = 25;
const clients = 8;
const allowedStatuses = new Set([200, 201, 400, 401, 403, 404, 405, 408, 409, 413, 422, 429, 431]);

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

interface Mutation {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
}

const strangeText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom(
    '',
    '__proto__',
    'constructor',
    'toString',
    '%00',
    '%ff',
    '..',
    '%2e%2e%2f',
    '\u0000',
    '\ud800',
    'null',
    '-1',
    '1e999',
    '${x}',
    "'; --",
  ),
);

const pathPart = fc.oneof(
  fc.constantFrom('GOAL', 'RUN', 'v1', 'goals', 'runs', 'livez', 'readyz', 'openapi.json', 'operator', ''),
  strangeText.map(encodePart),
  fc.string({ unit: 'grapheme-ascii', maxLength: 10 }).map((text) => text.replaceAll(/[\s\p{Cc}]/gu, '_')),
);

/** Percent-encodes what a path can not hold; a lone surrogate becomes bytes that are no UTF-8. */
function encodePart(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ed%a0%80';
}

const methods = fc.constantFrom(
  'POST',
  'GET',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'HEAD',
);
/** Where requests go: mostly where some operation is. */
const targets = fc.oneof(
  { weight: 6, arbitrary: fc.constant(['POST', '/v1/goals/GOAL/runs'] as const) },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constant('GET'),
      fc.constantFrom('/v1/goals', '/v1/goals/GOAL', '/v1/goals/GOAL/runs/RUN'),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      methods,
      fc.array(pathPart, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(methods, fc.constantFrom('/v1/goals/GOAL/runs', '/v1/goals', '/livez')) },
);
const queries = fc.oneof(
  { weight: 8, arbitrary: fc.constant('') },
  {
    weight: 1,
    arbitrary: fc
      .array(fc.tuple(fc.oneof(fc.constantFrom('limit', 'after'), strangeText), strangeText), {
        minLength: 1,
        maxLength: 3,
      })
      .map(
        (pairs) => `?${pairs.map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`).join('&')}`,
      ),
  },
);

const scalar = fc.oneof(
  fc.constantFrom(
    '"Ada"',
    '"+12025550100"',
    '1',
    '-0',
    '1e999',
    '9007199254740993',
    '0.1',
    'true',
    'null',
    '"\\ud800"',
    '"\\u0000"',
    '[]',
    '{}',
    `${'['.repeat(40)}${']'.repeat(40)}`,
  ),
  strangeText.map((text) => JSON.stringify(text)),
  fc.json({ maxDepth: 2 }),
);
const fieldName = fc.oneof(
  fc.constantFrom(
    'name',
    'parcels',
    'phone',
    'variables',
    'task',
    'run_spec_id',
    'target',
    '__proto__',
    'constructor',
    'prototype',
    'hasOwnProperty',
    '0',
  ),
  strangeText,
);
const objectText = (value: fc.Arbitrary<string>) =>
  fc
    .array(fc.tuple(fieldName, value), { maxLength: 4 })
    .map((fields) => `{${fields.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`);
const goodBody = '{"phone":"+12025550100","variables":{"name":"Ada"}}';
const bodyTexts = fc.oneof(
  { weight: 2, arbitrary: fc.constant(goodBody) },
  {
    weight: 3,
    arbitrary: objectText(scalar).map((variables) => `{"phone":"+12025550100","variables":${variables}}`),
  },
  { weight: 2, arbitrary: objectText(fc.oneof(scalar, objectText(scalar))) },
  { weight: 1, arbitrary: scalar.map((phone) => `{"phone":${phone},"variables":{"name":"Ada"}}`) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
);
/** Texts, some of them with bytes changed, taken or added. */
const bodies = fc
  .tuple(
    bodyTexts,
    fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      {
        weight: 1,
        arbitrary: fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.uint8Array({ maxLength: 3 })), { maxLength: 3 }),
      },
    ),
  )
  .map(([text, edits]) =>
    edits.reduce((bytes, [place, removed, added]) => {
      const at = place % (bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removed)]);
    }, Buffer.from(text)),
  );

const headerValue = fc.oneof(
  fc
    .string({
      unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
      maxLength: 30,
    })
    .map((text) => text.replaceAll('\u007f', '_')),
  fc.constantFrom(
    '',
    ' ',
    '\t',
    'KEY',
    'Bearer KEY',
    'bearer  KEY',
    'Bearer x',
    'application/json',
    'application/json; charset=utf-8',
    'text/plain',
    'gzip',
    'identity',
    ';;;',
    'k'.repeat(256),
  ),
);
const headerName = fc.constantFrom(
  'authorization',
  'Authorization',
  'content-type',
  'Content-Encoding',
  'Idempotency-Key',
  'idempotency-key',
  'accept-version',
  'x-forwarded-for',
  'cookie',
  'request-id',
  'te',
  'accept',
);
type HeaderEdit = { readonly kind: 'drop' | 'set' | 'add'; readonly name: string; readonly value: string };
const headerEdits: fc.Arbitrary<readonly HeaderEdit[]> = fc.oneof(
  { weight: 4, arbitrary: fc.constant([]) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.record({ kind: fc.constantFrom('drop', 'set', 'add'), name: headerName, value: headerValue }),
      { minLength: 1, maxLength: 3 },
    ),
  },
);

const mutations: fc.Arbitrary<Mutation> = fc
  .record({
    target: targets,
    query: queries,
    edits: headerEdits,
    body: bodies,
    sameKey: fc.nat(9),
  })
  .map(({ target: [method, path], query, edits, body, sameKey }) => ({
    method,
    path: path + query,
    headers: edits.reduce(editHeaders, [
      ['Host', 'localhost'],
      ['Authorization', 'Bearer KEY'],
      ['Content-Type', 'application/json'],
      ['Idempotency-Key', sameKey === 0 ? 'same' : 'FRESH'],
    ]),
    body,
  }));

function editHeaders(headers: readonly (readonly [string, string])[], { kind, name, value }: HeaderEdit) {
  const others =
    kind === 'add' ? headers : headers.filter(([other]) => other.toLowerCase() !== name.toLowerCase());
  return kind === 'drop' ? others : [...others, [name, value] as const];
}

function bytesOf({ method, path, headers, body }: Mutation): Buffer {
  const lines = [...headers, ['Content-Length', String(body.length)]].map(
    ([name, value]) => `${name}: ${value}`,
  );
  const head = [`${method} ${path} HTTP/1.1`, ...lines]
    .join('\r\n')
    .replaceAll('GOAL', service.goalId)
    .replaceAll('RUN', ids.next('grun'))
    .replaceAll('FRESH', ids.next('evt'))
    .replaceAll('KEY', service.key);
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), body]);
}

/** What is done to the bytes of a whole request; may break HTTP itself. */
const framingEdits = fc.array(
  fc.tuple(
    fc.nat(),
    fc.nat(4),
    fc.oneof(
      fc.constantFrom(
        '\r\n',
        '\n',
        '\r',
        ' ',
        ':',
        '\u0000',
        'Transfer-Encoding: chunked\r\n',
        'Content-Length: 1\r\n',
        'Expect: 100-continue\r\n',
        'Upgrade: h2c\r\nConnection: upgrade\r\n',
        'HTTP/1.0',
        'a'.repeat(17_000),
      ),
      fc.string({ unit: 'binary-ascii', maxLength: 3 }),
    ),
  ),
  { minLength: 1, maxLength: 3 },
);

function breakFraming(bytes: Buffer, edits: readonly (readonly [number, number, string])[]): Buffer {
  // Most of the way in the head, where the framing is.
  const headLength = bytes.indexOf('\r\n\r\n') + 4;
  return edits.reduce((now, [place, removed, added]) => {
    const at = place % (headLength + 1);
    return Buffer.concat([now.subarray(0, at), Buffer.from(added, 'latin1'), now.subarray(at + removed)]);
  }, bytes);
}

/** A client that keeps its connection as long as the server does. */
class KeepAliveClient {
  #socket: Socket | undefined;

  async send(bytes: Buffer, method: string): Promise<RawResponse> {
    const socket = await this.#connected();
    let received: Buffer = Buffer.alloc(0);
    const answered = new Promise<RawResponse>((resolve, reject) => {
      const onData = (chunk: Buffer) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
        const response = wholeResponse(received, method);
        if (response !== undefined) finish(() => resolve(response));
      };
      const onClose = () => finish(() => reject(new Error(`closed after: ${received.toString()}`)));
      const finish = (settle: () => void) => {
        socket.off('data', onData).off('close', onClose);
        settle();
      };
      socket.on('data', onData).on('close', onClose);
    });
    socket.write(bytes);
    const response = await answered;
    if (response.headers.get('connection') === 'close') this.close();
    return response;
  }

  async #connected(): Promise<Socket> {
    if (this.#socket !== undefined && !this.#socket.destroyed) return this.#socket;
    this.#socket = connect(service.port, '127.0.0.1');
    this.#socket.on('error', () => undefined);
    await once(this.#socket, 'connect');
    return this.#socket;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }
}

/** The response once all of it is there; a HEAD has no body, whatever its length says. */
function wholeResponse(bytes: Buffer, method: string): RawResponse | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const length = Number(
    /^content-length: (\d+)\r$/im.exec(bytes.subarray(0, headEnd + 2).toString('latin1'))?.[1],
  );
  if (method !== 'HEAD' && bytes.length < headEnd + 4 + length) return undefined;
  const [response] = parseResponses(bytes);
  return response;
}

/** Plain comparisons: a hundred thousand calls of `expect` would take most of the time. */
function check({ status, headers, body }: RawResponse, method: string): void {
  const problems = method === 'HEAD' ? [] : formProblems(status, (name) => headers.get(name), body);
  if (!allowedStatuses.has(status)) problems.push(`the status ${status}`);
  if (problems.length > 0) throw new Error(`${problems.join(', ')} in ${body}`);
}

it(`answers ${requestsInAll} mutated requests as it should`, { timeout: 300_000 }, async () => {
  const before = Object.getOwnPropertyNames(Object.prototype);
  const pool = Array.from({ length: clients }, () => new KeepAliveClient());
  const seen = new Map<number, number>();
  const count = (status: number) => seen.set(status, (seen.get(status) ?? 0) + 1);

  async function sendAll(batch: readonly Mutation[]): Promise<void> {
    const queue = batch.values();
    await Promise.all(
      pool.map(async (client) => {
        for (const mutation of queue) {
          const response = await client.send(bytesOf(mutation), mutation.method);
          check(response, mutation.method);
          count(response.status);
        }
      }),
    );
  }

  async function sendBroken(mutation: Mutation, edits: Parameters<typeof breakFraming>[1]): Promise<void> {
    const bytes = breakFraming(
      bytesOf({ ...mutation, method: mutation.method === 'HEAD' ? 'GET' : mutation.method }),
      edits,
    );
    const responses = await exchangeRaw(service.port, bytes, { end: true });
    if (responses.length === 0) throw new Error(`no answer to ${bytes.toString('latin1')}`);
    for (const response of responses) {
      check(response, bytes.subarray(0, 4).toString());
      count(response.status);
    }
  }

  const batches = fc.record({
    whole: fc.array(mutations, {
      minLength: batchSize - framingPerBatch,
      maxLength: batchSize - framingPerBatch,
    }),
    broken: fc.array(fc.tuple(mutations, framingEdits), {
      minLength: framingPerBatch,
      maxLength: framingPerBatch,
    }),
  });
  await fc.assert(
    fc.asyncProperty(batches, async ({ whole, broken }) => {
      await sendAll(whole);
      await Promise.all(broken.map(([mutation, edits]) => sendBroken(mutation, edits)));
    }),
    { seed: 20_260_101, numRuns: requestsInAll / batchSize, endOnFailure: true },
  );

  for (const client of pool) client.close();
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
  expect((await service.post(JSON.parse(goodBody))).status).toBe(201);
  // The mutations are not all of one kind: every stage of the checks was reached.
  const rare = [200, 201, 400, 401, 404, 405, 409, 422, 431].filter((status) => (seen.get(status) ?? 0) < 50);
  expect(rare).toEqual([]);
});
