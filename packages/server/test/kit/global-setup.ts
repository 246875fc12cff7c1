/**
 * Once per test run: one PostgreSQL server with a migrated template database, and one dumped data directory of
 * a migrated embedded database. `database.ts` makes fresh databases from both.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import type { TestProject } from 'vitest/node';
import { openEmbedded } from '../../src/storage/embedded.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { openPostgres } from '../../src/storage/postgres.ts';
import { startPostgresServer } from './postgres-server.ts';
import { databaseUrl, templateDatabase } from './urls.ts';

/** A machine that is busy with other tests may take its time. */
const patient = { maxConnections: 1, connectTimeoutMs: 60_000 };

declare module 'vitest' {
  export interface ProvidedContext {
    /** The database `postgres` of the run's server. */
    postgresUrl: string;
    /** A file: the dumped data directory of a migrated embedded database. */
    embeddedTemplate: string;
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(join(tmpdir(), 'trunkcall-tests-'));
  const embeddedTemplate = join(directory, 'template.tar');
  // Of the many processes that tests start, each next one finds the program compiled.
  process.env['NODE_COMPILE_CACHE'] = join(directory, 'compiled');
  const [server] = await Promise.all([startServer(), dumpEmbedded(directory, embeddedTemplate)]);
  project.provide('postgresUrl', server.url);
  project.provide('embeddedTemplate', embeddedTemplate);
  return async () => {
    await server.stop();
    // A process that is just ending may still write what it compiled.
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  };
}

async function startServer(): ReturnType<typeof startPostgresServer> {
  const server = await startPostgresServer({ fsync: false });
  const admin = openPostgres({ url: server.url, ...patient });
  await admin.execute(`CREATE DATABASE ${templateDatabase}`);
  await admin.close();
  const template = openPostgres({ url: databaseUrl(server.url, templateDatabase), ...patient });
  await migrate(template);
  // PostgreSQL copies a template only while nobody is connected to it.
  await template.close();
  return server;
}

async function dumpEmbedded(directory: string, file: string): Promise<void> {
  const dataDir = join(directory, 'embedded');
  const db = await openEmbedded({ dataDir, onLost: fail });
  await migrate(db);
  await db.close();
  const pglite = await PGlite.create({ fs: new NodeFS(join(dataDir, 'database')) });
  const dump = await pglite.dumpDataDir('none');
  await pglite.close();
  await writeFile(file, Buffer.from(await dump.arrayBuffer()));
}

function fail(error: Error): never {
  throw error;
}
