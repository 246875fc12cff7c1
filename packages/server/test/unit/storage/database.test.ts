import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Database, Queryable } from '../../../src/storage/database.ts';
import { DatabaseUnavailable, statement } from '../../../src/storage/database.ts';
import type { TestDatabase } from '../../kit/database.ts';
import { databases, freshDatabase } from '../../kit/database.ts';

const insertItem = statement('test_insert_item', 'INSERT INTO item (id, note) VALUES ($1, $2)');
const countItems = statement<{ count: number }>('test_count_items', 'SELECT count(*) FROM item');
const failing = statement('test_failing', 'SELECT 1 / 0');

async function items(db: Queryable): Promise<number | undefined> {
  return (await db.query(countItems))[0]?.count;
}

describe.each(databases)('the database port on %s', (kind) => {
  let fresh: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    fresh = await freshDatabase(kind);
    db = fresh.db;
    await db.execute(
      'CREATE TABLE item (id integer PRIMARY KEY, note text); CREATE TABLE other (id integer)',
    );
  });
  afterAll(() => fresh.close());
  beforeEach(() => db.execute('TRUNCATE item'));

  test('a fresh database has the migrated schema', async () => {
    const [row] = await db.query(
      statement<{ newest: number }>('test_newest', 'SELECT max(version) AS newest FROM schema_migrations'),
    );
    expect(row?.newest).toBeGreaterThanOrEqual(1);
  });

  test('every session has index plans and the time zone UTC', async () => {
    const seqscan = statement<{ enable_seqscan: string }>('test_seqscan', 'SHOW enable_seqscan');
    const zone = statement<{ TimeZone: string }>('test_zone', 'SHOW timezone');
    expect(await db.query(seqscan)).toEqual([{ enable_seqscan: 'off' }]);
    expect(await db.query(zone)).toEqual([{ TimeZone: 'UTC' }]);
  });

  test('a statement is prepared once under its name', async () => {
    const named = statement<{ value: number }>('test_named', 'SELECT $1::int + 1 AS value');
    const prepared = statement(
      'test_prepared',
      "SELECT 1 FROM pg_prepared_statements WHERE name = 'test_named'",
    );
    const seen = await db.transaction(async (tx) => {
      expect(await tx.query(named, [1])).toEqual([{ value: 2 }]);
      expect(await tx.query(named, [2])).toEqual([{ value: 3 }]);
      return tx.query(prepared);
    });
    expect(seen).toHaveLength(1);
  });

  test('json columns give back their keys in the order in which they were written', async () => {
    const echo = statement<{ value: Record<string, unknown> }>('test_json', 'SELECT $1::json AS value');
    const [row] = await db.query(echo, ['{"zeta":1,"alpha":{"y":[1,null],"b":true},"mid":"é"}']);
    expect(JSON.stringify(row?.value)).toBe('{"zeta":1,"alpha":{"y":[1,null],"b":true},"mid":"é"}');
  });

  test('column types become the documented JavaScript values', async () => {
    const types = statement<Record<string, unknown>>(
      'test_types',
      `SELECT 9007199254740991::int8 AS int8, '2026-03-29T01:30:00.123Z'::timestamptz AS moment,
              '2026-03-29'::date AS day, 1.10::numeric AS exact, '\\x00ff'::bytea AS bytes, ARRAY['a', null] AS list`,
    );
    expect(await db.query(types)).toEqual([
      {
        int8: Number.MAX_SAFE_INTEGER,
        moment: new Date('2026-03-29T01:30:00.123Z'),
        day: '2026-03-29',
        exact: '1.10',
        bytes: Buffer.from([0, 255]),
        list: ['a', null],
      },
    ]);
  });

  test('an int8 that a number cannot hold rejects instead of losing digits', async () => {
    const tooLarge = statement('test_large', 'SELECT 9007199254740993::int8 AS value');
    await expect(db.query(tooLarge)).rejects.toThrow(RangeError);
    expect(await items(db)).toBe(0);
  });

  test('values of every accepted type arrive', async () => {
    const at = new Date('2026-01-02T03:04:05.678Z');
    const echo = statement<Record<string, unknown>>(
      'test_values',
      'SELECT $1::text AS a, $2::int8 AS b, $3::bool AS c, $4::timestamptz AS d, $5::bytea AS e, $6::int[] AS f, $7::text AS g',
    );
    const [row] = await db.query(echo, ['x', 5n, true, at, new Uint8Array([1, 2]), [1, 2], null]);
    expect(row).toEqual({ a: 'x', b: 5, c: true, d: at, e: Buffer.from([1, 2]), f: [1, 2], g: null });
  });

  test('an error keeps its code and constraint but tells no column values', async () => {
    await db.query(insertItem, [1, 'first']);
    const error: unknown = await db.query(insertItem, [1, 'again']).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: '23505', constraint: 'item_pkey' });
    expect((error as { detail?: string }).detail).toBeUndefined();
    expect(await items(db)).toBe(1);
  });

  test('a transaction that resolves is committed', async () => {
    const value = await db.transaction(async (tx) => {
      await tx.query(insertItem, [1, null]);
      await tx.query(insertItem, [2, null]);
      return 'done';
    });
    expect(value).toBe('done');
    expect(await items(db)).toBe(2);
  });

  test('a transaction that rejects leaves nothing', async () => {
    const refused = new Error('refused');
    const work = async (tx: Queryable): Promise<void> => {
      await tx.query(insertItem, [1, null]);
      throw refused;
    };
    await expect(db.transaction(work)).rejects.toBe(refused);
    expect(await items(db)).toBe(0);
  });

  test('a transaction whose failed statement was swallowed rejects, because nothing was committed', async () => {
    const swallowed = db.transaction(async (tx) => {
      await tx.query(insertItem, [1, null]);
      await tx.query(failing).catch(() => {});
    });
    await expect(swallowed).rejects.toThrow('rolled back');
    expect(await items(db)).toBe(0);
  });

  test.each(['40001', '40P01'])(
    'a transaction that fails with %s runs again, three times in all',
    async (code) => {
      const lose = statement(
        `test_lose_${code}`,
        `DO $$ BEGIN RAISE EXCEPTION 'lost' USING ERRCODE = '${code}'; END $$`,
      );
      let runs = 0;
      const untilThird = async (tx: Queryable): Promise<void> => {
        runs += 1;
        await tx.query(insertItem, [runs, null]);
        if (runs < 3) await tx.query(lose);
      };
      await db.transaction(untilThird);
      expect(runs).toBe(3);
      expect(await items(db)).toBe(1);

      let more = 0;
      const always = async (tx: Queryable): Promise<void> => {
        more += 1;
        await tx.query(lose);
      };
      await expect(db.transaction(always)).rejects.toMatchObject({ code });
      expect(more).toBe(3);
    },
  );

  test('a query on the outer database inside its own transaction is refused at once', async () => {
    await expect(db.transaction(() => db.query(countItems))).rejects.toThrow('inside its own transaction');
    await expect(db.transaction(() => db.transaction(items))).rejects.toThrow('inside its own transaction');
    await expect(db.transaction(() => db.execute('SELECT 1'))).rejects.toThrow('inside its own transaction');
  });

  test('work that a transaction started may use the database after its end, but not the transaction', async () => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let later: Promise<number | undefined> | undefined;
    const leaked = await db.transaction(async (tx) => {
      later = ended.then(() => items(db));
      return tx;
    });
    end();
    expect(await later).toBe(0);
    await expect(leaked.query(countItems)).rejects.toThrow('after its end');
  });

  test('a statement whose table was changed since it was prepared is prepared again', async () => {
    const all = statement('test_all_other', 'SELECT * FROM other');
    const useEverySession = (): Promise<unknown> =>
      Promise.all(Array.from({ length: db.sessions }, () => db.transaction((tx) => tx.query(all))));
    await useEverySession();
    await db.execute('ALTER TABLE other ADD COLUMN more text');
    await useEverySession();
    await db.execute('ALTER TABLE other ADD COLUMN most text; INSERT INTO other (id) VALUES (1)');
    expect(await db.query(all)).toEqual([{ id: 1, more: null, most: null }]);
  });

  test('many callers at once all get their answers, and timers get their turn between them', async () => {
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
    }, 1);
    const ids = Array.from({ length: 500 }, (_, index) => index);
    await Promise.all(ids.map((id) => db.transaction((tx) => tx.query(insertItem, [id, null]))));
    clearInterval(timer);
    expect(await items(db)).toBe(ids.length);
    expect(ticks).toBeGreaterThan(3);
  });

  test('after close everything is unavailable, and close can be repeated', async () => {
    const own = await freshDatabase(kind);
    await own.db.close();
    await own.db.close();
    await expect(own.db.query(countItems)).rejects.toThrow(DatabaseUnavailable);
    await own.close();
  });
});
