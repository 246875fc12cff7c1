/**
 * The database port on a `pg` pool: what both adapters have in common.
 *
 * Invariants
 * - P1 a query on the outer database inside its own transaction is refused at once, never queued.
 * - P2 `transaction` resolves only after the server said COMMIT; a COMMIT that became a ROLLBACK (a failed
 *   statement whose error the caller swallowed) rejects.
 * - P3 a connection whose state is unknown never goes back into the pool.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import type { Database, Queryable, SqlValue, Statement } from './database.ts';
import { DatabaseUnavailable } from './database.ts';
import { lostAgainstAnother, planIsStale, portError } from './database-errors.ts';

export interface PoolDatabaseOptions {
  readonly kind: Database['kind'];
  readonly pool: pg.Pool;
  readonly sessions: number;
  /** Awaited before each statement; the embedded database lets the event loop breathe here. */
  readonly beforeStatement?: () => Promise<void> | undefined;
  /** Told each error that an answer was, before it is thrown. */
  readonly onError?: (error: unknown) => void;
  /** Closes what stands behind the pool; called once, after the pool has ended. */
  readonly onClose?: () => Promise<void>;
}

/**
 * Settings of every session, so that a statement has one plan, whatever the tables hold.
 *
 * - Sequential scans are off: tables are filled faster than they are analysed, and a plan made when a table was
 *   empty would read it whole once it is full. All our reads have an index; where none fits, PostgreSQL still
 *   scans. The price that it puts on such a scan would call for just-in-time compilation, so that is off too.
 * - Hash and merge joins are off: beside an empty table they look as cheap as a look-up by key, and read all of
 *   it once it is full.
 * - The generic plan is used from the first time on. PostgreSQL would else plan the acceptance anew each time
 *   (it thinks a batch of unknown size dear), which takes longer than to execute it.
 */
export const planSettings = [
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
  'enable_bitmapscan=off',
  'jit=off',
  'plan_cache_mode=force_generic_plan',
  'timezone=UTC',
] as const;

/** A transaction is tried this often in all (see `Database.transaction`). */
const maxAttempts = 3;

/** The bound on `execute`: a migration may build an index over a large table. Milliseconds. */
const executeTimeoutMs = 60 * 60_000;

/** Marks the asynchronous context of a transaction; `open` turns false when it has ended. */
interface TransactionScope {
  open: boolean;
}

export function poolDatabase(options: PoolDatabaseOptions): Database {
  const { pool } = options;
  const scopes = new AsyncLocalStorage<TransactionScope>();
  let closing: Promise<void> | undefined;

  function refuseNested(): void {
    if (scopes.getStore()?.open) {
      throw new Error(
        'The outer database was used inside its own transaction: use the `tx` that was handed in.',
      );
    }
  }

  async function withClient<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    let client: pg.PoolClient;
    try {
      client = await pool.connect();
    } catch (error) {
      throw portError(error);
    }
    let broken = false;
    try {
      return await work(client);
    } catch (error) {
      const failure = portError(error);
      broken = failure instanceof DatabaseUnavailable;
      throw failure;
    } finally {
      client.release(broken);
    }
  }

  async function send(client: pg.PoolClient, config: pg.QueryConfig): Promise<pg.QueryResult> {
    await options.beforeStatement?.();
    try {
      return await client.query(config);
    } catch (error) {
      options.onError?.(error);
      throw error;
    }
  }

  async function run<Row>(
    client: pg.PoolClient,
    { name, text }: Statement<Row>,
    values: readonly SqlValue[],
  ): Promise<Row[]> {
    const { rows } = await send(client, { name, text, values: [...values] });
    return rows as Row[];
  }

  async function query<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []): Promise<Row[]> {
    refuseNested();
    return withClient(async (client) => {
      try {
        return await run(client, statement, values);
      } catch (error) {
        if (!planIsStale(error)) throw error;
        await forgetPlans(client);
        return await run(client, statement, values);
      }
    });
  }

  async function attempt<T>(client: pg.PoolClient, work: (tx: Queryable) => Promise<T>): Promise<T> {
    const scope: TransactionScope = { open: true };
    const tx: Queryable = {
      async query<Row>(statement: Statement<Row>, values: readonly SqlValue[] = []) {
        if (!scope.open) throw new Error('A transaction was used after its end.');
        try {
          return await run(client, statement, values);
        } catch (error) {
          // The caller sees what the port promises; the retry below needs the driver's own error.
          throw portError(error);
        }
      },
    };
    await send(client, { text: 'BEGIN ISOLATION LEVEL READ COMMITTED' });
    try {
      const value = await scopes.run(scope, () => work(tx));
      scope.open = false;
      const ended = await send(client, { text: 'COMMIT' });
      if (ended.command !== 'COMMIT') {
        throw new Error(
          'The transaction was rolled back: a statement in it failed and its error was swallowed.',
        );
      }
      return value;
    } catch (error) {
      scope.open = false;
      // Also after a lost connection, where it rejects at once: the embedded session outlives its client.
      await send(client, { text: 'ROLLBACK' });
      throw error;
    }
  }

  async function transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    refuseNested();
    return withClient(async (client) => {
      for (let tried = 1; ; tried += 1) {
        try {
          return await attempt(client, work);
        } catch (error) {
          const stale = planIsStale(error);
          if (tried === maxAttempts || (!stale && !lostAgainstAnother(error))) throw error;
          if (stale) await forgetPlans(client);
        }
      }
    });
  }

  async function execute(sql: string): Promise<void> {
    refuseNested();
    await withClient(async (client) => {
      // Read by the driver per query, but missing from its types.
      const bounded: pg.QueryConfig & { query_timeout: number } = {
        text: sql,
        query_timeout: executeTimeoutMs,
      };
      await send(client, bounded);
    });
  }

  async function close(): Promise<void> {
    closing ??= (async () => {
      await pool.end();
      await options.onClose?.();
    })();
    return closing;
  }

  return { kind: options.kind, sessions: options.sessions, query, transaction, execute, close };
}

/** Makes the driver and the server prepare every statement of this connection again. */
async function forgetPlans(client: pg.PoolClient): Promise<void> {
  await client.query('DEALLOCATE ALL');
  // The driver's list of what it has prepared; it has no public way to clear it.
  const { connection } = client as unknown as { connection: { parsedStatements: Record<string, string> } };
  connection.parsedStatements = {};
}
