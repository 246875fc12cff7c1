/**
 * Brings the schema up to the one that this program was written for, and decides whether the program may
 * serve at all.
 *
 * Files `migrations/NNNN_name.sql` run in order, each in one transaction together with its row in
 * `schema_migrations`; there is no way back down. So that two versions of the program can serve side by side
 * while one replaces the other, a migration says which older programs it leaves working:
 *
 *     -- compatible-from: 0003
 *
 * (programs whose newest migration is 0003 or later may still serve after this one). Without that line only
 * programs that contain the migration itself may serve. The strictest answer stands in
 * `schema_compatibility`, where an older program, which cannot read the newer file, finds it.
 */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Database } from './database.ts';
import { statement } from './database.ts';

export interface Migration {
  readonly version: number;
  /** File name without `.sql`, at most 100 characters of `[a-z0-9_]`. */
  readonly name: string;
  readonly sql: string;
  /** The oldest program (by its newest migration) that may serve on the schema after this migration. */
  readonly compatibleFrom: number;
}

export interface MigrateResult {
  /** The newest migration that the database has, possibly newer than this program. */
  readonly version: number;
  /** Names of the migrations that this call ran, in order. */
  readonly applied: readonly string[];
}

/** The database has a schema on which this program must not serve, or its history is not ours. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch';
}

/** Beside this file, in the sources and in a build alike. */
const ownDirectory = fileURLToPath(new URL('migrations/', import.meta.url));

/** Any number that no other program locks in the same database. */
const advisoryLockKey = 7_478_231_905;

/**
 * Waits without limit for a migration that another process runs (its own statements may be slow), then makes
 * sure that the two tables of this file exist. A text of several statements is one implicit transaction.
 */
const lockSql = `SET LOCAL statement_timeout = 0; SELECT pg_advisory_xact_lock(${advisoryLockKey});`;

const prepareSql = `${lockSql}
  CREATE TABLE IF NOT EXISTS schema_migrations (
    version integer PRIMARY KEY,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE IF NOT EXISTS schema_compatibility (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    compatible_from integer NOT NULL
  );`;

const readApplied = statement<AppliedMigration>(
  'migrate_applied',
  'SELECT version, name FROM schema_migrations ORDER BY version',
);

const readCompatibility = statement<{ compatible_from: number }>(
  'migrate_compatibility',
  'SELECT compatible_from FROM schema_compatibility',
);

const uniqueViolation = '23505';

interface AppliedMigration {
  readonly version: number;
  readonly name: string;
}

/**
 * Runs every migration that the database lacks. Several processes may call it at the same time: one runs a
 * migration, the others wait and go on behind it.
 *
 * Throws: `SchemaMismatch`; `DatabaseUnavailable`; the database's error when a migration fails (it leaves no
 * trace then). Safe to repeat: yes.
 */
export async function migrate(db: Database, directory: string = ownDirectory): Promise<MigrateResult> {
  const known = await readMigrations(directory);
  await db.execute(prepareSql);
  const applied: string[] = [];
  // Asked again after every step: another process, perhaps of a newer program, may be migrating as well.
  for (;;) {
    const [next] = await missingMigrations(db, known);
    if (!next) break;
    if (await applyMigration(db, next)) applied.push(next.name);
  }
  const version = (await db.query(readApplied)).at(-1)?.version ?? 0;
  return { version, applied };
}

/** Throws: when a name is malformed, a number is used twice, or a file cannot be read. */
export async function readMigrations(directory: string = ownDirectory): Promise<Migration[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.sql')).sort();
  const migrations = await Promise.all(
    files.map(async (file) => parseMigration(file, await readFile(join(directory, file), 'utf8'))),
  );
  const twice = migrations.find(({ version }, index) => migrations[index - 1]?.version === version);
  if (twice) throw new Error(`Two migrations have the number ${twice.version}.`);
  return migrations;
}

function parseMigration(file: string, sql: string): Migration {
  const name = file.slice(0, -'.sql'.length);
  const number = /^(\d{4})_[a-z0-9_]{1,95}$/.exec(name)?.[1];
  if (number === undefined) throw new Error(`A migration is named NNNN_name.sql; "${file}" is not.`);
  const version = Number(number);
  const compatibleFrom = Number(/^-- compatible-from: (\d{4})$/m.exec(sql)?.[1] ?? version);
  if (compatibleFrom > version)
    throw new Error(`Migration ${name} claims to serve only programs after itself.`);
  if (/^-- down migration/im.test(sql))
    throw new Error(`Migration ${name} has a down section: there is no way back.`);
  return { version, name, sql, compatibleFrom };
}

/** The pure decision: what is left to run, or why this program may not serve. */
export function plan(
  known: readonly Migration[],
  applied: readonly AppliedMigration[],
  compatibleFrom: number,
): Migration[] {
  const newestKnown = known.at(-1)?.version ?? 0;
  const newestApplied = applied.at(-1)?.version ?? 0;
  const unknown = applied.filter(
    ({ version, name }) => !known.some((m) => m.version === version && m.name === name),
  );
  const foreign = unknown.filter(({ version }) => version <= newestKnown);
  if (foreign.length > 0) {
    throw new SchemaMismatch(
      `The database has migrations of another line of development: ${names(foreign)}.`,
    );
  }
  if (unknown.length > 0 && newestKnown < compatibleFrom) {
    throw new SchemaMismatch(
      `The database has migrations that this program does not know (${names(unknown)}) and that need a program ` +
        `of schema ${compatibleFrom} or newer; this program has schema ${newestKnown}. Run a newer program.`,
    );
  }
  const missing = known.filter(({ version }) => !applied.some((m) => m.version === version));
  const late = missing.filter(({ version }) => version < newestApplied);
  if (late.length > 0) {
    throw new SchemaMismatch(`Migrations were added behind ones that already ran: ${names(late)}.`);
  }
  return missing;
}

async function missingMigrations(db: Database, known: readonly Migration[]): Promise<Migration[]> {
  const applied = await db.query(readApplied);
  const [compatibility] = await db.query(readCompatibility);
  return plan(known, applied, compatibility?.compatible_from ?? 0);
}

/**
 * Resolves to false when another process has run it meanwhile. Its row goes in first, so that the loser of
 * that race fails there and not somewhere in the migration.
 */
async function applyMigration(
  db: Database,
  { version, name, sql, compatibleFrom }: Migration,
): Promise<boolean> {
  try {
    await db.execute(`${lockSql}
      INSERT INTO schema_migrations (version, name) VALUES (${version}, '${name}');
      INSERT INTO schema_compatibility (compatible_from) VALUES (${compatibleFrom})
        ON CONFLICT (only_row) DO UPDATE
          SET compatible_from = greatest(schema_compatibility.compatible_from, excluded.compatible_from);
      ${sql}`);
    return true;
  } catch (error) {
    if (isTakenRow(error)) return false;
    throw error;
  }
}

function isTakenRow(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    error.code === uniqueViolation &&
    'constraint' in error &&
    error.constraint === 'schema_migrations_pkey'
  );
}

function names(migrations: readonly AppliedMigration[]): string {
  return migrations.map(({ name }) => name).join(', ');
}
