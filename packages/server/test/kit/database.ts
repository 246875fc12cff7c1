/**
 * Fresh, migrated databases for tests, of both kinds:
 *
 *     describe.each(databases)('… on %s', (kind) => {
 *       let test: TestDatabase;
 *       beforeAll(async () => { test = await freshDatabase(kind); });
 *       afterAll(() => test.close());
 */
import { randomBytes } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { inject } from 'vitest';
import type { Database } from '../../src/storage/database.ts';
import { inMemory, openEmbedded } from '../../src/storage/embedded.ts';
import { openPostgres } from '../../src/storage/postgres.ts';
import { databaseUrl, templateDatabase } from './urls.ts';

export const databases = ['postgres', 'embedded'] as const satisfies readonly Database['kind'][];

export interface TestDatabase {
  readonly db: Database;
  /** For further pools on the same database; undefined when embedded. */
  readonly url: string | undefined;
  /** Closes `db` and removes the database with all that is in it. */
  close(): Promise<void>;
}

export function freshDatabase(kind: Database['kind']): Promise<TestDatabase> {
  return kind === 'postgres' ? freshPostgres() : freshEmbedded();
}

async function freshPostgres(): Promise<TestDatabase> {
  const serverUrl = inject('postgresUrl');
  const name = `test_${randomBytes(8).toString('hex')}`;
  const admin = openPostgres({
    url: serverUrl,
    maxConnections: 1,
    statementTimeoutMs: 60_000,
    connectTimeoutMs: 60_000,
  });
  await admin.execute(`CREATE DATABASE ${name} TEMPLATE ${templateDatabase}`);
  const url = databaseUrl(serverUrl, name);
  const db = openPostgres({ url, connectTimeoutMs: 30_000 });
  async function close(): Promise<void> {
    await db.close();
    // FORCE: a test may have left other pools open.
    await admin.execute(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
    await admin.close();
  }
  return { db, url, close };
}

async function freshEmbedded(): Promise<TestDatabase> {
  const db = await openEmbedded({
    dataDir: inMemory,
    onLost: fail,
    template: await openAsBlob(inject('embeddedTemplate')),
  });
  return { db, url: undefined, close: () => db.close() };
}

function fail(error: Error): never {
  throw error;
}
