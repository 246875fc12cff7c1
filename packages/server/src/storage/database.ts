/**
 * The one door to the database. Two adapters stand behind it, PostgreSQL (`postgres.ts`) and the embedded
 * PGlite (`embedded.ts`); both speak the same SQL through the same driver, so no other file asks which one
 * it has.
 *
 * Rules for callers
 * - Statements are constants with a unique `name`: the driver prepares each once per connection.
 * - Inside `transaction` use only the `tx` that was handed in. The embedded database has a single session,
 *   so a query on the outer `Database` would wait for a transaction that waits for it; both adapters
 *   refuse it with an error rather than hang.
 * - Timestamps that decide who may act (leases, due times) are taken from the database's own clock.
 */

/** A prepared statement; `Row` is the shape of the rows that it returns. */
export interface Statement<Row> {
  /** Unique in the program and at most 63 bytes; the server keeps the plan under this name. */
  readonly name: string;
  readonly text: string;
  /** Carries the row type; never set. */
  readonly row?: Row;
}

/** Values that the driver can bind. Objects must be turned into JSON text by the caller. */
export type SqlValue =
  | string
  | number
  | bigint
  | boolean
  | Date
  | Uint8Array
  | null
  | readonly (string | number | boolean | Date | Uint8Array | null)[];

export interface Queryable {
  /** Runs one statement and resolves to its rows. Throws `DatabaseUnavailable` when the server could not be asked. */
  query<Row>(statement: Statement<Row>, values?: readonly SqlValue[]): Promise<Row[]>;
}

export interface Database extends Queryable {
  readonly kind: 'postgres' | 'embedded';
  /** How many statements can make progress at once (1 when embedded): the number of useful group-commit lanes. */
  readonly sessions: number;
  /**
   * Runs `work` in one READ COMMITTED transaction: commits when it resolves, rolls back when it rejects.
   * Serialization failures and deadlocks (40001, 40P01) are tried again, at most three times in all; so
   * `work` must have no effect outside the transaction.
   */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Runs text of several statements without parameters (migrations, maintenance). */
  execute(sql: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * The database could not be asked or its answer was lost: refused connection, dropped socket, shutdown,
 * time-out. What was sent may or may not have been committed.
 */
export class DatabaseUnavailable extends Error {
  override readonly name = 'DatabaseUnavailable';
}

/** Names a statement once, so that its text and row type stand together. */
export function statement<Row>(name: string, text: string): Statement<Row> {
  return { name, text };
}
