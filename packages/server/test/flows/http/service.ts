/** A running HTTP service for tests: the real app on a real socket, with a real database behind it. */
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { scopes, type GoalFile } from '@trunkcall/contract';
import { createAcceptance } from '../../../src/acceptance/accept.ts';
import { createKeyring, type Keyring, type NewKey } from '../../../src/authoring/keys.ts';
import { buildApp, type AppDependencies } from '../../../src/http/app.ts';
import { defaultHttpSettings, type HttpSettings } from '../../../src/http/settings.ts';
import { systemClock, type Clock } from '../../../src/platform/clock.ts';
import { systemIds } from '../../../src/platform/ids.ts';
import { createLog } from '../../../src/platform/log.ts';
import type { Database } from '../../../src/storage/database.ts';
import { createRunReader } from '../../../src/storage/runs.ts';
import { callTaskRoutes } from '../../../src/legacy/routes.ts';
import { callDependencies } from '../../kit/calls.ts';
import { freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { createAccount, goalFile, publishGoal } from '../../kit/fixtures.ts';

/** The system's time, moved on by hand. Sleeps take real time. */
interface TestClock extends Clock {
  advance(ms: number): void;
}

function testClock(): TestClock {
  let aheadMs = 0;
  return {
    now: () => systemClock.now() + aheadMs,
    monotonic: () => systemClock.monotonic() + aheadMs,
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
    advance: (ms) => {
      aheadMs += ms;
    },
  };
}

export interface Service {
  readonly app: FastifyInstance;
  readonly origin: string;
  readonly port: number;
  readonly database: TestDatabase;
  readonly clock: TestClock;
  readonly keys: Keyring;
  readonly accountId: string;
  /** Published and active. */
  readonly goalId: string;
  /** May do everything. */
  readonly key: string;
  /** The log so far, one JSON line each. */
  readonly logged: () => string;
  newKey(over?: Partial<NewKey>): Promise<string>;
  newGoal(over?: Partial<GoalFile>): Promise<string>;
  /** Sends a request with the key; `init.headers` go on top. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** Posts a Goal Run with a fresh Idempotency-Key. */
  post(body: unknown, headers?: Record<string, string>): Promise<Response>;
  close(): Promise<void>;
}

export interface ServiceOptions {
  readonly kind?: 'postgres' | 'embedded';
  readonly settings?: Partial<HttpSettings>;
  readonly over?: Partial<AppDependencies>;
  /** How calls without a Goal are accepted. */
  readonly calls?: (db: Database, clock: Clock) => AppDependencies['calls'];
  /** Puts something between the keyring and its database. */
  readonly wrapForKeys?: (db: Database) => Database;
}

export const ids = systemIds(systemClock);
const readiness = () => [];
/** Enough for tests that are not about rates. */
const unlimited = { perSecond: 1_000_000, burst: 1_000_000 };

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { kind = 'embedded', settings, over, wrapForKeys = (db) => db } = options;
  const { calls = (db, clock) => callDependencies(db, clock, ids) } = options;
  const database = await freshDatabase(kind);
  const { db } = database;
  const clock = testClock();
  const keys = createKeyring({ db: wrapForKeys(db), clock, ids, environment: 'test' });
  const accountId = await createAccount(db, ids);
  const newGoal = (content: Partial<GoalFile> = {}) => publishGoal(db, ids, accountId, goalFile(content));
  const goalId = await newGoal();
  const newKey = async (wanted: Partial<NewKey> = {}) =>
    (await keys.create({ accountId, scopes, regions: null, expiresAt: null, ...wanted })).key;
  const key = await newKey();
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const app = buildApp({
    db,
    clock,
    ids,
    log: createLog('info', destination),
    keys,
    cursorSecret: Buffer.alloc(32, 7),
    acceptance: createAcceptance({
      db,
      clock,
      ids,
      readiness,
      forbids: () => null,
      onAccepted: () => undefined,
    }),
    findRun: createRunReader(db),
    readiness,
    ready: async () => [],
    calls: calls(db, clock),
    legacy: (app, shared) => callTaskRoutes(app, { ...shared, cutoffActive: true }),
    settings: { ...defaultHttpSettings, keyRate: unlimited, wrongKeyRate: unlimited, ...settings },
    ...over,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const origin = `http://127.0.0.1:${port}`;
  const send = (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers);
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${key}`);
    return fetch(`${origin}${path}`, { ...init, headers });
  };
  return {
    app,
    origin,
    port,
    database,
    clock,
    keys,
    accountId,
    goalId,
    key,
    logged: () => lines.join(''),
    newKey,
    newGoal,
    fetch: send,
    post: (body, headers = {}) =>
      send(`/v1/goals/${goalId}/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': ids.next('evt'), ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    async close() {
      await app.close();
      await database.close();
    },
  };
}

export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/**
 * Sends bytes as they are and reads until the server closes the connection. With `end` it says that no more will come,
 * as a client does that has sent less than it announced.
 */
export async function exchangeRaw(
  port: number,
  bytes: string | Buffer,
  { end = false } = {},
): Promise<RawResponse[]> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  const answer = readAll(socket);
  if (end) socket.end(bytes);
  else socket.write(bytes);
  return parseResponses(await answer);
}

/** Everything that the other side sends until it closes. */
export async function readAll(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // Not `once` of node:events, which would reject on a reset.
  await new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve));
  return Buffer.concat(chunks);
}

/** Splits a byte stream into responses, all of which must have a content-length; a HEAD must be the last. */
export function parseResponses(bytes: Buffer): RawResponse[] {
  const responses: RawResponse[] = [];
  let rest = bytes;
  while (rest.length > 0) {
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) throw new Error(`no end of headers in: ${rest.toString().slice(0, 200)}`);
    const [statusLine = '', ...lines] = rest.subarray(0, headEnd).toString('latin1').split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const length = status === 100 ? 0 : Number(headers.get('content-length'));
    if (!Number.isInteger(length)) throw new Error(`no content-length in: ${rest.toString().slice(0, 200)}`);
    const bodyEnd = headEnd + 4 + length;
    if (status !== 100)
      responses.push({ status, headers, body: rest.subarray(headEnd + 4, bodyEnd).toString() });
    rest = rest.subarray(bodyEnd);
  }
  return responses;
}
