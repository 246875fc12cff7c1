/**
 * The database port on PGlite: PostgreSQL in this process, with its files in one directory.
 *
 *     dataDir/lock-NNNNNNNNN.json   who holds the directory (embedded-lock.ts)
 *     dataDir/database/             PostgreSQL's own files
 *     dataDir/database.new/         a database in the making; renamed when it is complete and on the disk
 *
 * Invariants
 * - E1 what was committed survives `kill -9` and a power cut: every commit waits for a real fsync, and the
 *   database proves at each start that it does.
 * - E2 one process at a time; one that loses the directory is told at once and answers nothing any more.
 * - E3 there is one session, so statements run one after the other, and the event loop gets its turn between
 *   them. PGlite has no background processes: VACUUM, ANALYZE and CHECKPOINT run from a timer here.
 */
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';
import { createPgConfig } from '@electric-sql/pglite/node-postgres';
import { Pool } from 'pg';
import type { Database, Queryable } from './database.ts';
import { DatabaseUnavailable, statement } from './database.ts';
import { asParameter, DurableFiles, durableStartParams, syncPath, syncTree } from './embedded-files.ts';
import type { DirectoryLock } from './embedded-lock.ts';
import { lockDirectory } from './embedded-lock.ts';
import type { MaintenanceOptions } from './embedded-maintenance.ts';
import { startMaintenance } from './embedded-maintenance.ts';
import { planSettings, poolDatabase } from './pool-database.ts';
import { rowTypes } from './row-types.ts';

export const inMemory = 'memory://';

const databaseName = 'database';

export interface EmbeddedOptions extends MaintenanceOptions {
  /** Created if missing. `memory://` keeps everything in memory, without lock and fsync: for tests. */
  readonly dataDir: string;
  /**
   * Called once when the database can no longer be trusted to keep what it is told: the directory was taken
   * over, or the disk is full or broken. The process must exit; until then every query rejects.
   */
  readonly onLost: (error: Error) => void;
  /** A dumped data directory that an in-memory database starts from. */
  readonly template?: Blob;
}

/** Statements wait for the one session at most this long. */
const sessionWaitMs = 30_000;
const statementBoundMs = 60_000;

/** Work of the database runs on the event loop: let timers and sockets have it this often. */
const longestTurnMs = 10;

const sessionParameters = planSettings.flatMap(asParameter);

/** Throws: `DirectoryInUse`; an Error when the database does not bring its commits to the disk. */
export async function openEmbedded(options: EmbeddedOptions): Promise<Database> {
  return options.dataDir === inMemory ? openInMemory(options) : openDirectory(options);
}

async function openInMemory(options: EmbeddedOptions): Promise<Database> {
  const pglite = await PGlite.create(inMemory, {
    startParams: [...PGlite.defaultStartParams, ...sessionParameters],
    ...(options.template && { loadDataDir: options.template }),
  });
  return serve(pglite, { beforeStatement: breathe(), mayClose: () => true });
}

async function openDirectory(options: EmbeddedOptions): Promise<Database> {
  const dataDir = resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  let lost: Error | undefined;
  const lose = (cause: unknown): void => {
    if (lost) return;
    lost = new DatabaseUnavailable('The embedded database had to stop.', { cause });
    options.onLost(lost);
  };
  const lock = await lockDirectory(dataDir, { onLost: lose });
  let db: Database | undefined;
  try {
    await createDatabase(dataDir);
    const files = new DurableFiles(join(dataDir, databaseName), lose);
    const pause = breathe();
    db = serve(await startDurable(files), {
      beforeStatement: () => {
        lock.confirm();
        if (lost) throw lost;
        return pause();
      },
      onError: (error) => {
        if (isFatal(error)) lose(error);
      },
      // Closing writes a checkpoint, which one who has lost the directory must not do.
      mayClose: () => lost === undefined,
    });
    await proveDurable(db, files);
    return withMaintenance(db, options, lock);
  } catch (error) {
    await db?.close();
    lock.release();
    throw error;
  }
}

function withMaintenance(db: Database, options: MaintenanceOptions, lock: DirectoryLock): Database {
  const maintenance = startMaintenance(db, options);
  const close = async (): Promise<void> => {
    await maintenance.stop();
    await db.close();
    lock.release();
  };
  return { ...db, close };
}

/**
 * Makes the database, if there is none, under another name: an opener that is killed half-way leaves nothing
 * that looks like a database.
 */
async function createDatabase(dataDir: string): Promise<void> {
  const finished = join(dataDir, databaseName);
  if (existsSync(finished)) return;
  const unfinished = `${finished}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  const pglite = await PGlite.create({ fs: new NodeFS(unfinished) });
  await pglite.close();
  syncTree(unfinished);
  renameSync(unfinished, finished);
  syncPath(dataDir);
}

function startDurable(files: DurableFiles): Promise<PGlite> {
  return PGlite.create({ fs: files, startParams: [...durableStartParams, ...sessionParameters] });
}

const commitNothing = statement<{ lsn: string }>(
  'embedded_self_test',
  `SELECT pg_logical_emit_message(true, 'trunkcall', 'durability self-test')::text AS lsn`,
);

/** Throws: an Error when a commit does not bring the write-ahead log to the disk. */
export async function proveDurable(db: Queryable, files: { readonly walSyncs: number }): Promise<void> {
  const before = files.walSyncs;
  await db.query(commitNothing);
  if (files.walSyncs > before) return;
  throw new Error('The embedded database does not bring its commits to the disk; it refuses to serve.');
}

interface ServeOptions {
  readonly beforeStatement: () => Promise<void> | undefined;
  readonly onError?: (error: unknown) => void;
  readonly mayClose: () => boolean;
}

function serve(pglite: PGlite, { mayClose, ...hooks }: ServeOptions): Database {
  const session = createPgConfig(pglite);
  const settings = {
    max: session.poolSize,
    idleTimeoutMillis: 0,
    connectionTimeoutMillis: sessionWaitMs,
    query_timeout: statementBoundMs,
    types: rowTypes,
  };
  const pool = new Pool(Object.assign(settings, session));
  pool.on('error', ignore);
  pool.on('connect', (client) => client.on('error', ignore));
  const onClose = async (): Promise<void> => {
    if (mayClose()) await pglite.close();
  };
  return poolDatabase({ kind: 'embedded', pool, sessions: session.poolSize, ...hooks, onClose });
}

/**
 * PostgreSQL gave up (a full disk, for one), or did not answer. PGlite cannot restart it: the next statement
 * would never return.
 */
function isFatal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('severity' in error) return error.severity === 'PANIC' || error.severity === 'FATAL';
  return error.message === 'Query read timeout';
}

/**
 * PGlite answers within microtasks, so a caller in a tight loop would keep timers and sockets waiting: every
 * few milliseconds a statement first lets the event loop turn.
 */
function breathe(): () => Promise<void> | undefined {
  let turnStartedAt = performance.now();
  return () => {
    if (performance.now() - turnStartedAt < longestTurnMs) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        turnStartedAt = performance.now();
        resolve();
      });
    });
  };
}

function ignore(): void {}
