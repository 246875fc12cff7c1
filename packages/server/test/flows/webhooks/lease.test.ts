import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/storage/database.ts';
import {
  claimDeliveries,
  putBackDeliveries,
  readyDueDeliveries,
  recordTries,
  type ClaimedDelivery,
} from '../../../src/storage/deliveries.ts';
import { databases, freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { advance, createWebhookHarness, type WebhookHarness } from './harness.ts';

const leaseMs = 30_000;

describe.each(databases)('the lease of a delivery on %s', (kind) => {
  let test: TestDatabase;
  let db: Database;
  let harness: WebhookHarness;
  beforeAll(async () => {
    test = await freshDatabase(kind);
    db = test.db;
    harness = await createWebhookHarness({ db });
  });
  afterAll(() => test.close());

  const claim = async (worker: string): Promise<ClaimedDelivery[]> =>
    db.query(claimDeliveries, [worker, 16, [], [], 100, leaseMs]);
  const record = ({ id, fence }: ClaimedDelivery, state: string, status: number) =>
    db.query(recordTries, [[id], [fence], [state], [0], [true], [0], [1], [status], [null], [''], 1e9]);

  it('is one worker’s at a time, and a worker that lost it can write nothing', async () => {
    await harness.publish({ url: 'https://receiver.example/' });
    const [stale] = await claim('wrk_1');
    expect(stale).toMatchObject({ tries: 1, fence: 1 });
    expect(await claim('wrk_2')).toEqual([]);

    await advance(db, leaseMs + 1_000);
    await db.query(readyDueDeliveries, [100, 8]);
    const [fresh] = await claim('wrk_2');
    if (stale === undefined || fresh === undefined) throw new Error('nothing was claimed');
    expect(fresh.fence).toBeGreaterThan(stale.fence);

    await record(stale, 'delivered', 200);
    await db.query(putBackDeliveries, [[stale.id], [stale.fence]]);
    expect(await claim('wrk_3')).toEqual([]);
    expect(await harness.deliveries()).toMatchObject([{ state: 'pending', tries: 2 }]);
    expect(await harness.tries(stale.id)).toEqual([]);

    await record(fresh, 'delivered', 204);
    expect(await harness.deliveries()).toMatchObject([{ state: 'delivered', last_status: 204 }]);
    expect(await harness.tries(stale.id)).toHaveLength(1);
  });
});
