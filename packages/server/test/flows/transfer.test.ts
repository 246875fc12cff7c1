import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { statement, type Database } from '../../src/storage/database.ts';
import { exportData, importData } from '../../src/storage/transfer.ts';
import { freshDatabase, type TestDatabase } from '../kit/database.ts';
import { addNumber } from '../kit/fixtures.ts';
import { createHarness, ids } from './execution/harness.ts';

const found = statement<never>(
  'test_found',
  `insert into deployment (environment, cursor_secret) values ('test', '\\x00ff10')`,
);
/** Account and number refer to each other. */
const showNumber = statement<never>(
  'test_show_number',
  'update accounts set default_number = $2 where id = $1',
);
const digest = statement<{ digest: string }>(
  'test_digest',
  `select md5(string_agg(x, '|' order by x)) as digest from (
     select 'r' || to_json(r)::text as x from runs r union all select 't' || to_json(t)::text from turns t
     union all select 's' || to_json(s)::text from run_specs s union all select 'e' || to_json(e)::text from events e
     union all select 'k' || to_json(k)::text from idempotency_keys k union all select 'd' || to_json(d)::text from deployment d
     union all select 'n' || to_json(n)::text from numbers n union all select 'a' || to_json(a)::text from accounts a
   ) all_rows`,
);

const program = fileURLToPath(new URL('../../../cli/src/main.ts', import.meta.url));

let embedded: TestDatabase;
let postgres: TestDatabase;
beforeAll(async () => {
  embedded = await freshDatabase('embedded');
  postgres = await freshDatabase('postgres');
});
afterAll(async () => {
  await embedded.close();
  await postgres.close();
});

async function exported(db: Database): Promise<string[]> {
  const lines: string[] = [];
  await exportData(db, async (line) => {
    lines.push(line);
  });
  return lines;
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

it('moves everything from the embedded database to PostgreSQL, to the byte', async () => {
  const { db } = embedded;
  const harness = await createHarness({ db });
  const goalId = await harness.publish({ title: 'Grüße – "quoted" \\ back' });
  const run = await harness.run(goalId, '+12025550100', { name: 'Zoë 🙂 \n line' });
  await harness.until(run);
  const phone = '+12025550142';
  await addNumber(db, ids, { phone, accountId: harness.accountId, goalId });
  await db.query(showNumber, [harness.accountId, phone]);
  // Its Goal requires a variable: what is left of the call is a counter.
  expect(await harness.ring({ callId: 'sim_1', to: phone, from: null })).toMatchObject({ kind: 'refused' });
  await harness.stop();
  await db.query(found);

  const lines = await exported(db);
  await expect(importData(postgres.db, each(['{"trunkcall_export":9}']))).rejects.toThrow('not an export');
  for (const [broken, why] of [
    [[...lines.slice(0, -1), '{"table":"pg_class","row":{}}'], 'not a row'],
    [lines.slice(0, -1), 'not whole'],
    [lines.filter((line) => !line.startsWith('{"table":"idempotency_keys"')), 'not whole'],
    [[...lines, lines[1] ?? ''], 'goes on behind'],
  ] as const) {
    await expect(importData(postgres.db, each(broken))).rejects.toThrow(why);
  }
  expect(await importData(postgres.db, each(lines))).toBe(lines.length - 2);
  expect(await postgres.db.query(digest)).toEqual(await db.query(digest));

  // The new one goes on where the old one stopped: the key still names the same Run.
  const next = await createHarness({ db: postgres.db, accountId: harness.accountId });
  expect(await next.until(run)).toEqual(await harness.until(run));
  await next.until(await next.run(goalId, '+12025550101'));
  await next.stop();
});

it('refuses a database that holds a deployment', async () => {
  const lines = await exported(embedded.db);
  await expect(importData(embedded.db, each(lines))).rejects.toThrow('already holds a deployment');
});

it('works from shell to shell, and refuses what is no export', { timeout: 60_000 }, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'trunkcall-transfer-'));
  const command = (part: 'export' | 'import', dataDir: string, input = '') =>
    spawnSync(process.execPath, [program, part], {
      input,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], TRUNKCALL_DATA_DIR: join(directory, dataDir) },
    });
  try {
    const lines = await exported(embedded.db);
    expect(command('import', 'new', `${lines.join('\n')}\n`)).toMatchObject({
      status: 0,
      stderr: `imported ${lines.length - 2} rows\n`,
    });
    const again = command('export', 'new');
    expect(again.status).toBe(0);
    expect(again.stdout.trim().split('\n').sort()).toEqual(lines.toSorted());
    expect(command('export', 'none')).toMatchObject({
      status: 1,
      stderr: 'trunkcall: there is no deployment here to export\n',
    });
    expect(command('import', 'other', 'hello\n')).toMatchObject({
      status: 1,
      stderr: 'trunkcall: this is not an export of Trunkcall\n',
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
