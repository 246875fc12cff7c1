import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Database, Queryable } from '../../../src/storage/database.ts';
import { DatabaseUnavailable, statement } from '../../../src/storage/database.ts';
import { openEmbedded, proveDurable } from '../../../src/storage/embedded.ts';
import { DurableFiles, durableStartParams } from '../../../src/storage/embedded-files.ts';
import { DirectoryInUse } from '../../../src/storage/embedded-lock.ts';
import { maintain } from '../../../src/storage/embedded-maintenance.ts';
import type { Child } from './fixtures/run-child.ts';
import { runChild } from './fixtures/run-child.ts';

const writer = new URL('fixtures/embedded-writer.ts', import.meta.url);
const keptIds = statement<{ id: number }>('test_kept_ids', 'SELECT id FROM kept ORDER BY id');

function failOnLost(error: unknown): void {
  throw error;
}

let root = '';
let dataDir = '';
let child: Child | undefined;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'trunkcall-embedded-'));
});
beforeEach(async () => {
  dataDir = await mkdtemp(join(root, 'data-'));
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await child?.ended();
  child = undefined;
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe('the embedded database on a disk', () => {
  test('keeps every acknowledged row over kill -9 at any moment', { timeout: 120_000 }, async () => {
    let acknowledged = 0;
    for (const rows of [1, 40, 7, 150, 90]) {
      child = runChild(writer, [dataDir, 'write', String(acknowledged + 1)]);
      await child.said(1 + rows);
      child.kill('SIGKILL');
      await child.ended();
      acknowledged = Number(child.lines.at(-1));

      const db = await openEmbedded({ dataDir, onLost: failOnLost });
      const ids = (await db.query(keptIds)).map(({ id }) => id);
      // A row that was committed but no longer acknowledged may stand behind the last one.
      expect(ids.slice(0, acknowledged)).toEqual(
        Array.from({ length: acknowledged }, (_, index) => index + 1),
      );
      expect(ids.length).toBeLessThanOrEqual(acknowledged + 1);
      acknowledged = ids.length;
      await db.close();
    }
  });

  test('opens after kill -9 at any moment of its creation', { timeout: 120_000 }, async () => {
    // Until the engine is loaded, while its files are copied, and just before the end.
    const moments = [
      () => existsSync(dataDir) && lockFiles(dataDir) > 0,
      () => existsSync(join(dataDir, 'database.new', 'PG_VERSION')),
      () => existsSync(join(dataDir, 'database.new', 'pg_wal')),
      () => existsSync(join(dataDir, 'database')),
    ];
    for (const moment of moments) {
      child = runChild(writer, [dataDir, 'hold']);
      await vi.waitUntil(moment, { timeout: 20_000, interval: 1 });
      child.kill('SIGKILL');
      await child.ended();
    }
    const db = await openEmbedded({ dataDir, onLost: failOnLost });
    await db.execute('CREATE TABLE works ()');
    await db.close();
    expect((await readdir(dataDir)).filter((name) => !name.startsWith('lock-'))).toEqual(['database']);
  });

  test('can be opened by one process only; the refusal names the directory and the holder', async () => {
    child = runChild(writer, [dataDir, 'hold']);
    await child.said(1);
    const refusal = openEmbedded({ dataDir, onLost: failOnLost });
    await expect(refusal).rejects.toThrow(DirectoryInUse);
    await expect(refusal).rejects.toThrow(`${dataDir} is in use by process ${child.pid}`);
  });

  test.each([
    { name: 'the file system has no fsync behind it', hooked: false, startParams: durableStartParams },
    { name: 'PostgreSQL was told not to use it', hooked: true, startParams: PGlite.defaultStartParams },
  ])('refuses to serve when $name', async ({ hooked, startParams }) => {
    const files = new DurableFiles(dataDir, failOnLost);
    const pglite = await PGlite.create({
      fs: hooked ? files : new NodeFS(dataDir),
      startParams: [...startParams],
    });
    const db: Queryable = { query: async ({ text }) => (await pglite.query(text)).rows as never };
    await expect(proveDurable(db, files)).rejects.toThrow('does not bring its commits to the disk');
    await pglite.close();
  });

  test('stops, and says so, when another process has taken its directory', async () => {
    const onLost = vi.fn<(error: Error) => void>();
    const db = await openEmbedded({ dataDir, onLost });
    await db.execute('CREATE TABLE kept (id integer)');
    await writeFile(join(dataDir, 'lock-000000009.json'), '{}');
    await vi.waitUntil(() => onLost.mock.calls.length > 0, { timeout: 10_000 });
    await expect(db.query(keptIds)).rejects.toBeInstanceOf(DatabaseUnavailable);
    await expect(db.transaction((tx) => tx.query(keptIds))).rejects.toBeInstanceOf(DatabaseUnavailable);
    await db.close();
    expect(onLost).toHaveBeenCalledOnce();
    expect(await readdir(dataDir)).toContain('lock-000000009.json');
  });

  test('leaves a foreign directory as it is when it cannot make its database there', async () => {
    await mkdir(join(dataDir, 'database'));
    await writeFile(join(dataDir, 'database', 'PG_VERSION'), '12\n');
    await expect(openEmbedded({ dataDir, onLost: failOnLost })).rejects.toThrow();
    expect(await readdir(join(dataDir, 'database'))).toEqual(['PG_VERSION']);
  });

  test('cleans its tables and its log while it serves', async () => {
    const db = await openEmbedded({ dataDir, onLost: failOnLost, maintenanceIntervalMs: 60_000 });
    await db.execute(`CREATE TABLE kept (id integer, filler text);
      INSERT INTO kept SELECT n, repeat('x', 500) FROM generate_series(1, 2000) n`);
    const update = statement('test_update', `UPDATE kept SET filler = repeat('y', 501)`);
    await db.query(update);
    await maintain(db);
    const pages = await tablePages(db);
    for (let round = 0; round < 4; round += 1) {
      await db.query(update);
      await maintain(db);
    }
    expect(await tablePages(db)).toBe(pages);
    await db.close();
  });
});

function lockFiles(directory: string): number {
  return existsSync(join(directory, 'lock-000000001.json')) ||
    existsSync(join(directory, 'lock-000000002.json'))
    ? 1
    : 0;
}

async function tablePages(db: Database): Promise<number | undefined> {
  const size = statement<{ pages: number }>('test_pages', `SELECT pg_relation_size('kept') / 8192 AS pages`);
  return (await db.query(size))[0]?.pages;
}
