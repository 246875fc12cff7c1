/** What PostgreSQL's background processes would do; PGlite has none, and it keeps no activity statistics either. */
import type { Database } from './database.ts';
import { statement } from './database.ts';

export interface MaintenanceOptions {
  /** Time between two looks. Default 60 000. */
  readonly maintenanceIntervalMs?: number;
  /** Work is done when this much was written since the last time. Default 8 MiB. */
  readonly maintenanceAfterBytes?: number;
  /** Told when maintenance failed; it is tried again at the next look. */
  readonly onMaintenanceError?: (error: unknown) => void;
}

export interface Maintenance {
  /** Resolves when a round that is under way has ended. Safe to repeat: yes. */
  stop(): Promise<void>;
}

const readTables = statement<{ name: string }>(
  'maintenance_tables',
  `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
    WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
);

const readBytesWritten = statement<{ bytes: number }>(
  'maintenance_bytes_written',
  `SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::int8 AS bytes`,
);

/**
 * Cleans and analyses every table, then writes a checkpoint, so that a restart replays little and the log's
 * files are used again. VACUUM reads only pages that changed since the last one; each table is a statement of
 * its own, and other callers get their turn between them. Resolves to the bytes that the log had at its end.
 */
export async function maintain(db: Database): Promise<number> {
  for (const { name } of await db.query(readTables)) await db.execute(`VACUUM (ANALYZE) ${name}`);
  await db.execute('CHECKPOINT');
  return bytesWritten(db);
}

export function startMaintenance(db: Database, options: MaintenanceOptions): Maintenance {
  const afterBytes = options.maintenanceAfterBytes ?? 8 * 1024 * 1024;
  let maintainedAtBytes: number | undefined;
  let round: Promise<void> | undefined;

  async function look(): Promise<void> {
    try {
      const bytes = await bytesWritten(db);
      maintainedAtBytes ??= bytes;
      if (bytes - maintainedAtBytes >= afterBytes) maintainedAtBytes = await maintain(db);
    } catch (error) {
      options.onMaintenanceError?.(error);
    } finally {
      round = undefined;
    }
  }

  const timer = setInterval(() => {
    round ??= look();
  }, options.maintenanceIntervalMs ?? 60_000);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await round;
    },
  };
}

async function bytesWritten(db: Database): Promise<number> {
  const [row] = await db.query(readBytesWritten);
  return row?.bytes ?? 0;
}
