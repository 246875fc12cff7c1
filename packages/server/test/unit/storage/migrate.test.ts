import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import type { Database } from '../../../src/storage/database.ts';
import { statement } from '../../../src/storage/database.ts';
import { inMemory, openEmbedded } from '../../../src/storage/embedded.ts';
import { migrate, plan, readMigrations, SchemaMismatch } from '../../../src/storage/migrate.ts';
import { openPostgres } from '../../../src/storage/postgres.ts';
import { databases, freshDatabase } from '../../kit/database.ts';
import { databaseUrl } from '../../kit/urls.ts';

const first = { '0001_first.sql': 'CREATE TABLE one (id integer); INSERT INTO one VALUES (1);' };
const additive = {
  ...first,
  '0002_second.sql': '-- compatible-from: 0001\nALTER TABLE one ADD COLUMN more text;',
};
const breaking = { ...additive, '0003_third.sql': 'DROP TABLE one;' };

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'trunkcall-migrations-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A program is, to its database, the migrations that it was built with. */
async function program(files: Record<string, string>): Promise<string> {
  const directory = await mkdtemp(join(root, 'program-'));
  await Promise.all(Object.entries(files).map(([name, sql]) => writeFile(join(directory, name), sql)));
  return directory;
}

describe.each(databases)('migrate on %s', (kind) => {
  let db: Database;
  let second: Database;
  let remove: () => Promise<void>;
  beforeEach(async () => {
    if (kind === 'embedded') {
      db = await openEmbedded({ dataDir: inMemory, onLost: () => {} });
      second = db;
      remove = () => db.close();
      return;
    }
    const admin = openPostgres({ url: inject('postgresUrl'), maxConnections: 1 });
    await admin.execute('DROP DATABASE IF EXISTS migrations WITH (FORCE)');
    await admin.execute('CREATE DATABASE migrations');
    const url = databaseUrl(inject('postgresUrl'), 'migrations');
    db = openPostgres({ url });
    second = openPostgres({ url });
    remove = async () => {
      await Promise.all([db.close(), second.close()]);
      await admin.execute('DROP DATABASE migrations WITH (FORCE)');
      await admin.close();
    };
  });
  afterEach(() => remove());

  test('runs what is missing, in order, and nothing twice', async () => {
    expect(await migrate(db, await program(first))).toEqual({ version: 1, applied: ['0001_first'] });
    const newest = await program(breaking);
    expect(await migrate(db, newest)).toEqual({ version: 3, applied: ['0002_second', '0003_third'] });
    expect(await migrate(db, newest)).toEqual({ version: 3, applied: [] });
  });

  test('started several times at once, each migration runs once and all succeed', async () => {
    const directory = await program(breaking);
    const starters = [db, second, db, second, db, second, db, second];
    // Opens the sessions first, so that all really start at the same moment.
    await Promise.all(starters.map((each) => each.execute('SELECT pg_sleep(0.05)')));
    const results = await Promise.all(starters.map((each) => migrate(each, directory)));
    expect(results.map(({ version }) => version)).toEqual(starters.map(() => 3));
    expect(results.flatMap(({ applied }) => applied).sort()).toEqual([
      '0001_first',
      '0002_second',
      '0003_third',
    ]);
  });

  test('a migration that fails leaves no trace and can be tried again', async () => {
    const half = 'CREATE TABLE half (id integer); INSERT INTO half VALUES (1 / 0);';
    await expect(migrate(db, await program({ ...first, '0002_half.sql': half }))).rejects.toMatchObject({
      code: '22012',
    });
    const left = statement(
      'test_left',
      `SELECT to_regclass('half') AS half, max(version) AS version FROM schema_migrations`,
    );
    expect(await db.query(left)).toEqual([{ half: null, version: 1 }]);
    expect(await migrate(db, await program(additive))).toEqual({ version: 2, applied: ['0002_second'] });
  });

  test('an older program may serve on a newer schema that says it is compatible', async () => {
    await migrate(db, await program(additive));
    expect(await migrate(db, await program(first))).toEqual({ version: 2, applied: [] });
  });

  test('an older program may not serve once a breaking migration ran, whatever came after it', async () => {
    await migrate(
      db,
      await program({ ...breaking, '0004_later.sql': '-- compatible-from: 0001\nSELECT 1;' }),
    );
    const refusal = migrate(db, await program(additive));
    await expect(refusal).rejects.toThrow(SchemaMismatch);
    await expect(refusal).rejects.toThrow('0003_third, 0004_later');
    expect(await migrate(db, await program(breaking))).toEqual({ version: 4, applied: [] });
  });

  test('a database of another line of development is refused', async () => {
    await migrate(db, await program({ '0001_other.sql': 'SELECT 1;' }));
    await expect(migrate(db, await program(breaking))).rejects.toThrow(
      'another line of development: 0001_other',
    );
  });
});

describe.each(databases)('our own migrations on %s', (kind) => {
  test('have run completely in a fresh database', async () => {
    const fresh = await freshDatabase(kind);
    const own = await readMigrations();
    expect(await migrate(fresh.db)).toEqual({ version: own.at(-1)?.version, applied: [] });
    await fresh.close();
  });
});

describe('migration files', () => {
  test('must be named NNNN_name.sql, have different numbers, and not reach beyond themselves', async () => {
    await expect(readMigrations(await program({ 'first.sql': '' }))).rejects.toThrow('"first.sql" is not');
    await expect(readMigrations(await program({ '0001_a.sql': '', '0001_b.sql': '' }))).rejects.toThrow(
      'number 1',
    );
    await expect(readMigrations(await program({ '0001_a.sql': '-- compatible-from: 0002' }))).rejects.toThrow(
      '0001_a',
    );
    await expect(readMigrations(await program({ '0001_a.sql': '-- Down Migration' }))).rejects.toThrow(
      'no way back',
    );
  });

  test('may not be added behind one that already ran', async () => {
    const known = await readMigrations(await program(breaking));
    const applied = known.filter(({ version }) => version !== 2);
    expect(() => plan(known, applied, 3)).toThrow('0002_second');
  });
});
