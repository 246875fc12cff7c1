import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scopes, type Credentials } from '@trunkcall/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { prepareDeployment, WrongEnvironment } from '../../../src/authoring/first-start.ts';
import { createKeyring } from '../../../src/authoring/keys.ts';
import { isOperatorToken } from '../../../src/authoring/operator-tokens.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { systemIds } from '../../../src/platform/ids.ts';
import { listAccounts } from '../../../src/storage/accounts.ts';
import type { Database } from '../../../src/storage/database.ts';
import type { Environment } from '../../../src/storage/deployment.ts';
import { listGoals } from '../../../src/storage/goals.ts';
import { openPostgres } from '../../../src/storage/postgres.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { goalFile } from '../../kit/fixtures.ts';

const clock = systemClock;
const ids = systemIds(clock);

describe.each(databases)('a first start on %s', (kind) => {
  let database: TestDatabase;
  let goalsDirectory: string;
  let saved: Credentials[];
  beforeEach(async () => {
    database = await freshDatabase(kind);
    goalsDirectory = await mkdtemp(join(tmpdir(), 'goals-'));
    await writeFile(join(goalsDirectory, 'second-goal.yaml'), JSON.stringify(goalFile({ title: 'Second' })));
    await writeFile(join(goalsDirectory, 'first-goal.yaml'), JSON.stringify(goalFile({ title: 'First' })));
    await writeFile(join(goalsDirectory, 'notes.txt'), 'not a Goal');
    await mkdir(join(goalsDirectory, 'folder'));
    saved = [];
  });
  afterEach(async () => {
    await database.close();
    await rm(goalsDirectory, { recursive: true });
  });

  const start = (
    environment: Environment = 'test',
    db: Database = database.db,
    save: (credentials: Credentials) => Promise<void> = async (credentials) => void saved.push(credentials),
  ) =>
    prepareDeployment({
      db,
      ids,
      clock,
      environment,
      goalsDirectory,
      baseUrl: 'http://127.0.0.1:8080',
      save,
    });

  test('in test it makes the account demo with working credentials and the published examples', async () => {
    const { deployment, credentials } = await start();
    expect(deployment).toMatchObject({ environment: 'test' });
    expect(deployment.cursor_secret).toHaveLength(32);
    expect(saved).toEqual([credentials]);
    expect(credentials).toMatchObject({ base_url: 'http://127.0.0.1:8080', account: 'demo' });
    const { api_key = '', operator_token = '', goals = {} } = credentials ?? {};
    expect(Object.keys(goals)).toEqual(['first-goal', 'second-goal']);
    const rows = await database.db.query(listGoals, [null, null, 10]);
    expect(rows.map(({ id, state, published }) => [id, state, published?.title])).toEqual([
      [goals['first-goal'], 'active', 'First'],
      [goals['second-goal'], 'active', 'Second'],
    ]);
    const keyring = createKeyring({ db: database.db, clock, ids, environment: 'test' });
    expect(await keyring.verify(api_key)).toMatchObject({ scopes, regions: null, expiresAt: null });
    expect(operator_token).toMatch(/^tc_op_[\w-]{43}$/);
    expect(await isOperatorToken(database.db, null, operator_token)).toBe(true);
  });

  test('in production it makes an operator token and nothing else', async () => {
    const { credentials } = await start('production');
    expect(Object.keys(credentials ?? {})).toEqual(['base_url', 'operator_token']);
    expect(await isOperatorToken(database.db, null, credentials?.operator_token ?? '')).toBe(true);
    expect(await database.db.query(listAccounts)).toEqual([]);
  });

  test('a second start changes nothing and has no secrets to give', async () => {
    const first = await start();
    const second = await start();
    expect(second).toEqual({ deployment: first.deployment, credentials: null });
    expect(saved).toHaveLength(1);
    expect(await database.db.query(listAccounts)).toHaveLength(1);
  });

  test('a start that dies before its credentials are saved leaves nothing, and the next one founds', async () => {
    const dies = start('test', database.db, () => Promise.reject(new Error('disk full')));
    await expect(dies).rejects.toThrow('disk full');
    expect(await database.db.query(listAccounts)).toEqual([]);
    expect((await start()).credentials).toEqual(saved[0]);
  });

  test('an example that is not valid stops the start with its place, and leaves nothing', async () => {
    await writeFile(join(goalsDirectory, 'third.yaml'), 'format: 1\ntitle: [');
    await expect(start()).rejects.toThrow(/^third\.yaml:2:\d+: not valid YAML/);
    expect(await database.db.query(listAccounts)).toEqual([]);
  });

  test.each<[Environment, Environment]>([
    ['test', 'production'],
    ['production', 'test'],
  ])('a database of a %s deployment is refused to a %s one', async (founded, started) => {
    await start(founded);
    await expect(start(started)).rejects.toThrow(WrongEnvironment);
  });

  test('of starts that happen at once exactly one founds', async () => {
    const { db, url } = database;
    // The embedded database has one process; PostgreSQL has as many as there are connections here.
    const others =
      url === undefined ? [] : Array.from({ length: 3 }, () => openPostgres({ url, maxConnections: 1 }));
    const prepared = await Promise.all([db, db, ...others].map((each) => start('test', each)));
    expect(prepared.filter(({ credentials }) => credentials !== null)).toHaveLength(1);
    expect(new Set(prepared.map(({ deployment }) => deployment.cursor_secret.toString('hex'))).size).toBe(1);
    expect(saved).toHaveLength(1);
    expect(await db.query(listAccounts)).toHaveLength(1);
    await Promise.all(others.map((each) => each.close()));
  });
});
