import { connect } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { statement } from '../../../src/storage/database.ts';
import { openPostgres } from '../../../src/storage/postgres.ts';
import { databases, freshDatabase } from '../../kit/database.ts';
import { startPostgresServer } from '../../kit/postgres-server.ts';
import { runChild } from './fixtures/run-child.ts';

const owner = new URL('fixtures/server-owner.ts', import.meta.url);

async function listens(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const connected = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
  });
  socket.destroy();
  return connected;
}

describe('a PostgreSQL test server', () => {
  test('is gone when it was stopped', async () => {
    const server = await startPostgresServer({ fsync: false });
    expect(await listens(server.url)).toBe(true);
    await server.stop();
    await server.stop();
    expect(await listens(server.url)).toBe(false);
  });

  test('is gone soon after its owner was killed', async () => {
    const child = runChild(owner, []);
    await child.said(1);
    const url = child.lines[0] ?? '';
    expect(await listens(url)).toBe(true);
    child.kill('SIGKILL');
    await child.ended();
    await vi.waitUntil(async () => !(await listens(url)), { timeout: 20_000 });
  });

  test('brings fsync along unless told otherwise', async () => {
    const server = await startPostgresServer();
    const db = openPostgres({ url: server.url });
    expect(await db.query(statement('test_fsync', 'SHOW fsync'))).toEqual([{ fsync: 'on' }]);
    await db.close();
    await server.stop();
  });
});

describe.each(databases)('fresh databases on %s', (kind) => {
  test('do not see one another', async () => {
    const [one, other] = await Promise.all([freshDatabase(kind), freshDatabase(kind)]);
    await one.db.execute('CREATE TABLE mine (id integer)');
    const mine = statement<{ mine: string | null }>('test_mine', `SELECT to_regclass('mine') AS mine`);
    expect(await other.db.query(mine)).toEqual([{ mine: null }]);
    await Promise.all([one.close(), other.close()]);
  });
});
