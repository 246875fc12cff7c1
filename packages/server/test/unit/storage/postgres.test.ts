import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import type { Database } from '../../../src/storage/database.ts';
import { DatabaseUnavailable, statement } from '../../../src/storage/database.ts';
import { checkDurability, judgeDurability, openPostgres } from '../../../src/storage/postgres.ts';
import { startPostgresServer } from '../../kit/postgres-server.ts';
import type { PostgresServer } from '../../kit/postgres-server.ts';

const one = statement<{ one: number }>('test_one', 'SELECT 1 AS one');
const sleep = statement('test_sleep', 'SELECT pg_sleep($1)');

describe('a PostgreSQL server that dies', () => {
  let server: PostgresServer;
  let db: Database;
  const lost = vi.fn<(error: Error) => void>();
  beforeAll(async () => {
    server = await startPostgresServer({ fsync: true });
    db = openPostgres({
      url: server.url,
      maxConnections: 3,
      connectTimeoutMs: 2_000,
      onConnectionLost: lost,
    });
    await db.execute('CREATE TABLE kept (id integer PRIMARY KEY)');
  });
  afterAll(async () => {
    await db.close();
    await server.stop();
  });

  test('makes running, waiting and later queries DatabaseUnavailable, and serves again after its restart', async () => {
    const insert = statement('test_keep', 'INSERT INTO kept VALUES ($1)');
    await Promise.all([1, 2, 3].map((id) => db.query(insert, [id])));
    const running = [0, 1, 2, 3].map(() => db.query(sleep, [30]).catch((error: unknown) => error));
    const inTransaction = db.transaction((tx) => tx.query(sleep, [30])).catch((error: unknown) => error);
    await vi.waitUntil(async () => (await activeSleeps(server.url)) >= 3, { timeout: 10_000 });

    await server.kill();
    for (const answer of await Promise.all([...running, inTransaction])) {
      expect(answer).toBeInstanceOf(DatabaseUnavailable);
      expect((answer as Error).cause).toBeInstanceOf(Error);
    }
    await expect(db.query(one)).rejects.toBeInstanceOf(DatabaseUnavailable);
    await expect(db.transaction((tx) => tx.query(one))).rejects.toBeInstanceOf(DatabaseUnavailable);

    await server.restart();
    const count = statement<{ count: number }>('test_kept', 'SELECT count(*) FROM kept');
    expect(await db.query(count)).toEqual([{ count: 3 }]);
  });

  test('takes its idle sessions with it without ending the process', async () => {
    lost.mockClear();
    await Promise.all([db.query(one), db.query(one)]);
    await server.kill();
    await vi.waitUntil(() => lost.mock.calls.length > 0, { timeout: 10_000 });
    await server.restart();
    expect(await db.query(one)).toEqual([{ one: 1 }]);
  });
});

describe('openPostgres', () => {
  let db: Database | undefined;
  afterEach(() => db?.close());

  test('succeeds while nothing listens; its queries are unavailable', async () => {
    db = openPostgres({ url: 'postgres://postgres@127.0.0.1:1/postgres' });
    await expect(db.query(one)).rejects.toBeInstanceOf(DatabaseUnavailable);
  });

  test('bounds a statement, and what took too long is unavailable', async () => {
    db = openPostgres({ url: inject('postgresUrl'), statementTimeoutMs: 100 });
    await expect(db.query(sleep, [20])).rejects.toBeInstanceOf(DatabaseUnavailable);
    expect(await db.query(one)).toEqual([{ one: 1 }]);
  });

  test('bounds the wait for a session', async () => {
    const small = openPostgres({ url: inject('postgresUrl'), maxConnections: 1, connectTimeoutMs: 300 });
    db = small;
    await small.query(one);
    const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>();
    const holder = small.transaction(() => mayEnd);
    await expect(small.query(one)).rejects.toBeInstanceOf(DatabaseUnavailable);
    end();
    await holder;
    expect(await small.query(one)).toEqual([{ one: 1 }]);
  });

  test('survives a deadlock: both transactions commit', async () => {
    const own = openPostgres({ url: inject('postgresUrl') });
    db = own;
    await own.execute('CREATE TABLE IF NOT EXISTS pair (id integer PRIMARY KEY, n integer); TRUNCATE pair');
    await own.execute('INSERT INTO pair VALUES (1, 0), (2, 0)');
    const add = statement('test_pair', 'UPDATE pair SET n = n + 1 WHERE id = $1');
    const bothHold = meeting(2);
    const swap = (first: number, second: number): Promise<void> =>
      own.transaction(async (tx) => {
        await tx.query(add, [first]);
        await bothHold();
        await tx.query(add, [second]);
      });
    await Promise.all([swap(1, 2), swap(2, 1)]);
    expect(await own.query(statement('test_pairs', 'SELECT id, n FROM pair ORDER BY id'))).toEqual([
      { id: 1, n: 2 },
      { id: 2, n: 2 },
    ]);
  });
});

describe('checkDurability', () => {
  test('names each unsafe setting with its meaning, and nothing on a safe server', async () => {
    const unsafe = openPostgres({ url: inject('postgresUrl') });
    const warnings = await checkDurability(unsafe);
    await unsafe.close();
    expect(warnings.map(({ setting, value }) => `${setting}=${value}`)).toEqual(['fsync=off']);
    expect(warnings[0]?.meaning).toContain('power cut');

    const server = await startPostgresServer();
    const safe = openPostgres({ url: server.url });
    expect(await checkDurability(safe)).toEqual([]);
    await safe.close();
    await server.stop();
  });

  test('refuses a server older than PostgreSQL 15', () => {
    expect(() => judgeDurability([{ name: 'server_version_num', setting: '140012' }])).toThrow(
      'PostgreSQL 15 or newer is required; this server is 14.',
    );
    expect(judgeDurability([{ name: 'server_version_num', setting: '150000' }])).toEqual([]);
  });
});

/** Resolves for all callers when `count` have come; later callers pass at once. */
function meeting(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let arrived = 0;
  return () => {
    arrived += 1;
    if (arrived === count) resolve();
    return promise;
  };
}

async function activeSleeps(url: string): Promise<number> {
  const watcher = openPostgres({ url, maxConnections: 1 });
  const active = statement<{ count: number }>(
    'test_active',
    `SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'`,
  );
  const [row] = await watcher.query(active);
  await watcher.close();
  return row?.count ?? 0;
}
