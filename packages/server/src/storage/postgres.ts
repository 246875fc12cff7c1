/** The database port on a PostgreSQL server (15 or newer). */
import { Pool } from 'pg';
import type { Database } from './database.ts';
import { statement } from './database.ts';
import { planSettings, poolDatabase } from './pool-database.ts';
import { rowTypes } from './row-types.ts';

export interface PostgresOptions {
  /**
   * `postgres://user:password@host:port/database?sslmode=…`. Never logged. An `options` parameter in it would
   * replace the session settings below.
   */
  readonly url: string;
  /** Sessions held at most; further callers wait for one. Default 10. */
  readonly maxConnections?: number;
  /** One statement may take this long, and a transaction may idle this long. Default 15 000. */
  readonly statementTimeoutMs?: number;
  /** Wait for a free session or for a new one at most this long. Default 5 000. */
  readonly connectTimeoutMs?: number;
  /** Shown in `pg_stat_activity`. Default `trunkcall`. */
  readonly applicationName?: string;
  /** Told when an idle session is lost. The pool replaces it by itself; this is for the log. */
  readonly onConnectionLost?: (error: Error) => void;
}

/** Beyond the server's own time-out, so that its clearer answer comes first; this one is for dead networks. */
const answerGraceMs = 5_000;
const idleSessionMs = 60_000;

/**
 * Opens a pool; connects on first use, so it succeeds while the server is down.
 *
 * `synchronous_commit` stays as the operator set it (see `checkDurability`).
 * Throws: never for network reasons.
 */
export function openPostgres(options: PostgresOptions): Database {
  const maxConnections = options.maxConnections ?? 10;
  const statementTimeoutMs = options.statementTimeoutMs ?? 15_000;
  const pool = new Pool({
    connectionString: options.url,
    application_name: options.applicationName ?? 'trunkcall',
    max: maxConnections,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    idleTimeoutMillis: idleSessionMs,
    statement_timeout: statementTimeoutMs,
    // Of a process that was stopped in the middle: well within a lease, so that others do not lose theirs for it.
    idle_in_transaction_session_timeout: Math.min(5_000, statementTimeoutMs),
    query_timeout: statementTimeoutMs + answerGraceMs,
    keepAlive: true,
    types: rowTypes,
    options: planSettings.map((setting) => `-c ${setting}`).join(' '),
  });
  // Without listeners a lost socket would end the process: the pool reports idle sessions, and a session in
  // use also reports itself while its query rejects.
  pool.on('error', (error) => options.onConnectionLost?.(error));
  pool.on('connect', (client) => client.on('error', ignore));
  return poolDatabase({ kind: 'postgres', pool, sessions: maxConnections });
}

export interface DurabilityWarning {
  readonly setting: string;
  readonly value: string;
  /** What can be lost, in one sentence for the operator. */
  readonly meaning: string;
}

const oldestServerVersion = 150_000;

/** The server is older than what this program needs. */
export class ServerTooOld extends Error {
  override readonly name = 'ServerTooOld';
}

/** A row of `pg_settings`. */
export interface ServerSetting {
  readonly name: string;
  readonly setting: string;
}

const readSettings = statement<ServerSetting>(
  'storage_durability_settings',
  `SELECT name, setting FROM pg_settings
    WHERE name IN ('server_version_num', 'fsync', 'synchronous_commit', 'full_page_writes')`,
);

/** What it means that a setting is not the safe one. */
const unsafeMeanings: Record<string, Record<string, string>> = {
  fsync: { off: 'A power cut can lose acknowledged calls and destroy the database.' },
  full_page_writes: { off: 'A power cut can leave torn pages that recovery does not mend.' },
  synchronous_commit: { off: 'A crash of the database can lose calls that were acknowledged just before.' },
};

/**
 * Tells which settings of the server weaken the promise that an acknowledged call survives.
 * Throws: an Error when the server is older than PostgreSQL 15; `DatabaseUnavailable`.
 */
export async function checkDurability(db: Database): Promise<DurabilityWarning[]> {
  return judgeDurability(await db.query(readSettings));
}

/** The pure part of `checkDurability`. */
export function judgeDurability(settings: readonly ServerSetting[]): DurabilityWarning[] {
  const version = Number(settings.find(({ name }) => name === 'server_version_num')?.setting);
  if (!(version >= oldestServerVersion)) {
    throw new ServerTooOld(
      `PostgreSQL 15 or newer is required; this server is ${Math.floor(version / 10_000)}.`,
    );
  }
  return settings.flatMap(({ name, setting }) => {
    const meaning = unsafeMeanings[name]?.[setting];
    return meaning === undefined ? [] : [{ setting: name, value: setting, meaning }];
  });
}

function ignore(): void {}
