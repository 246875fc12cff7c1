/**
 * Moves all data from one database to another, such as from the embedded one to PostgreSQL.
 *
 * The form is JSON lines: a header with the schema's version, one line per row, table by table, and a last line
 * with their number: half an export would lose keys, and with them the promise that nobody is called twice. It is
 * read in one snapshot and written in one transaction; a transfer that fails leaves the new database empty.
 */
import { statement, type Database, type Queryable } from './database.ts';

/**
 * In the order of their references. What is counted or leased is moved as it is. Left behind is `usage_mark`: the sweep
 * of the new place walks over everything once.
 * In the order of their references. What is counted or leased is moved as it is. Left behind is what belongs to one
 * place: sessions and links, the rows of processes, and test calls over its trunks.
 */
const tables = [
  'deployment',
  'operator_tokens',
  'accounts',
  'numbers',
  'capacity',
  'api_keys',
  'goals',
  'run_specs',
  'runs',
  'calls',
  'recipients',
  'call_keys',
  'idempotency_keys',
  'jobs',
  'attempts',
  'turns',
  'events',
  'do_not_call',
  'people',
  'memberships',
  'audit_log',
  'trunk_lines',
  'trunk_turns',
  'daily_usage',
  'usage',
  'usage_months',
  'webhook_endpoints',
  'webhook_events',
  'webhook_deliveries',
  'webhook_tries',
] as const;
type Table = (typeof tables)[number];

const format = 1;
const rowsPerTrip = 500;

/** The data can not be taken in: it is not an export, or the database is not empty. */
export class TransferRefused extends Error {
  override readonly name = 'TransferRefused';
}

/** Whoever reads the export, or writes the import, may be slow. */
const withoutHurry = statement<never>(
  'transfer_without_hurry',
  'set local idle_in_transaction_session_timeout = 0',
);
const readVersion = statement<{ readonly version: number }>(
  'transfer_version',
  'select max(version) as version from schema_migrations',
);
const isFounded = statement<{ readonly founded: boolean }>(
  'transfer_is_founded',
  'select exists (select 1 from deployment) as founded',
);
const openCursor = (table: Table) =>
  statement<never>(
    `transfer_open_${table}`,
    `declare exported no scroll cursor for select to_json(t)::text as row from ${table} t`,
  );
const fetchRows = statement<{ readonly row: string }>('transfer_fetch', `fetch ${rowsPerTrip} from exported`);
const closeCursor = statement<never>('transfer_close', 'close exported');
const insertRows = (table: Table) =>
  statement<never>(
    `transfer_insert_${table}`,
    `insert into ${table} select r.* from json_array_elements($1::json) e, json_populate_record(null::${table}, e) r`,
  );

/** Hands out everything as JSON lines, each without its line end. Ends with the number of rows. */
export function exportData(db: Database, write: (line: string) => Promise<void>): Promise<number> {
  return db.transaction(async (tx) => {
    await tx.query(snapshot);
    await tx.query(withoutHurry);
    const [schema] = await tx.query(readVersion);
    const [state] = await tx.query(isFounded);
    if (state?.founded !== true) throw new TransferRefused('there is no deployment here to export');
    await write(JSON.stringify({ trunkcall_export: format, schema_version: schema?.version }));
    let rows = 0;
    for (const table of tables) {
      await tx.query(openCursor(table));
      for (;;) {
        const page = await tx.query(fetchRows);
        for (const { row } of page) await write(`{"table":"${table}","row":${row}}`);
        rows += page.length;
        if (page.length < rowsPerTrip) break;
      }
      await tx.query(closeCursor);
    }
    await write(JSON.stringify({ trunkcall_export_end: rows }));
    return rows;
  });
}

const snapshot = statement<never>(
  'transfer_snapshot',
  'set transaction isolation level repeatable read, read only',
);

/**
 * Takes in what `exportData` wrote. The database must be migrated and hold no deployment.
 *
 * Ends with the number of rows. Throws: TransferRefused.
 */
export function importData(db: Database, lines: AsyncIterable<string>): Promise<number> {
  return db.transaction(async (tx) => {
    const [state] = await tx.query(isFounded);
    if (state?.founded === true)
      throw new TransferRefused('the database already holds a deployment; import into an empty one');
    const iterator = lines[Symbol.asyncIterator]();
    await checkHeader(tx, await iterator.next());
    let rows = 0;
    let batch: { table: Table; rows: string[] } | null = null;
    const flush = async () => {
      if (batch !== null) await tx.query(insertRows(batch.table), [`[${batch.rows.join(',')}]`]);
      rows += batch?.rows.length ?? 0;
      batch = null;
    };
    let end: number | null = null;
    for (let line = await iterator.next(); line.done !== true; line = await iterator.next()) {
      if (end !== null) throw new TransferRefused('the export goes on behind its last line');
      end = readEnd(line.value);
      if (end !== null) continue;
      const { table, row } = readRow(line.value);
      if (batch === null || batch.table !== table || batch.rows.length >= rowsPerTrip) {
        await flush();
        batch = { table, rows: [] };
      }
      batch.rows.push(row);
    }
    await flush();
    if (end !== rows)
      throw new TransferRefused(
        `the export is not whole: ${rows} rows, and its last line says ${end ?? 'nothing'}`,
      );
    return rows;
  });
}

/** The number of rows when this is the last line of an export; else null. */
function readEnd(line: string): number | null {
  const rows = line.startsWith('{"trunkcall_export_end":')
    ? parseObject(line)?.['trunkcall_export_end']
    : null;
  return typeof rows === 'number' ? rows : null;
}

async function checkHeader(tx: Queryable, first: IteratorResult<string>): Promise<void> {
  const header = first.done === true ? null : parseObject(first.value);
  if (header?.['trunkcall_export'] !== format)
    throw new TransferRefused('this is not an export of Trunkcall');
  const [schema] = await tx.query(readVersion);
  if (header['schema_version'] !== schema?.version) {
    throw new TransferRefused(
      `the export has schema version ${String(header['schema_version'])} and this program has ${schema?.version}; use the same version of Trunkcall for both`,
    );
  }
}

/** Takes a line apart without changing the row's own text: the order of JSON keys must survive. */
function readRow(line: string): { table: Table; row: string } {
  const match = /^\{"table":"([a-z_]+)","row":(\{.*\})\}$/s.exec(line);
  const table = tables.find((name) => name === match?.[1]);
  const row = match?.[2];
  if (table === undefined || row === undefined) throw new TransferRefused('a line is not a row of an export');
  return { table, row };
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
