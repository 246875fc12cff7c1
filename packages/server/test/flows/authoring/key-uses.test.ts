import { scopes } from '@trunkcall/contract';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAccount } from '../../../src/authoring/accounts.ts';
import { startKeyUses, type KeyUses } from '../../../src/authoring/key-uses.ts';
import { createKeyring, type Keyring } from '../../../src/authoring/keys.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { systemIds } from '../../../src/platform/ids.ts';
import { createLog } from '../../../src/platform/log.ts';
import { statement } from '../../../src/storage/database.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { createManualClock } from '../../kit/manual-clock.ts';

const ids = systemIds(systemClock);
const minuteMs = 60_000;
const useLater = statement<never>('use_later', 'update api_keys set last_used_at = $2 where id = $1');

describe.each(databases)('the last use of a key on %s', (kind) => {
  let database: TestDatabase;
  let uses: KeyUses;
  let keys: Keyring;
  let accountId: string;
  const clock = createManualClock(1_000);
  beforeEach(async () => {
    database = await freshDatabase(kind);
    const { db } = database;
    uses = startKeyUses({ db, clock, log: createLog('silent') });
    keys = createKeyring({ db, clock, ids, environment: 'test', onUse: (id) => uses.note(id) });
    accountId = (await createAccount(db, ids, 'Acme')).id;
  });
  afterEach(async () => {
    await uses.stop();
    await database.close();
  });

  const newKey = () => keys.create({ accountId, scopes, regions: null, expiresAt: null });
  const lastUses = async () => (await keys.list(accountId)).map(({ lastUsedAt }) => lastUsedAt);

  test('is stored within a minute, and nothing is written before', async () => {
    const { key } = await newKey();
    const before = Date.now();
    await keys.verify(key);
    expect(await lastUses()).toEqual([null]);
    clock.advance(minuteMs);
    await expect.poll(lastUses).toEqual([expect.any(Date)]);
    const [at] = await lastUses();
    expect(at?.getTime()).toBeGreaterThanOrEqual(before);
  });

  test('is stored at the end, and a use that was later stays', async () => {
    const [{ key, id }, unused] = [await newKey(), await newKey()];
    await keys.verify(key);
    const later = new Date(Date.now() + minuteMs);
    await database.db.query(useLater, [id, later]);
    await uses.stop();
    expect(await lastUses()).toEqual([later, null]);
    expect(unused.lastUsedAt).toBeNull();
  });

  test('is that of a key that was right: a wrong secret, and a revoked key, leave none', async () => {
    const { key, id } = await newKey();
    await keys.verify(`${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`);
    await keys.revoke(id);
    await keys.verify(key);
    await uses.stop();
    expect(await lastUses()).toEqual([null]);
  });
});
