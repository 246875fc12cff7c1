import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAcceptance } from '../../../src/acceptance/accept.ts';
import type { RunRequest } from '../../../src/acceptance/acceptance.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { systemIds } from '../../../src/platform/ids.ts';
import { freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { createAccount, goalFile, publishGoal } from '../../kit/fixtures.ts';

const ids = systemIds(systemClock);
let test: TestDatabase;
beforeAll(async () => {
  test = await freshDatabase('postgres');
});
afterAll(() => test.close());

it('a number that no trunk may call is refused, but never an exact replay', async () => {
  const accountId = await createAccount(test.db, ids);
  const goalId = await publishGoal(test.db, ids, accountId, goalFile());
  let forbidden: string | null = null;
  const acceptance = createAcceptance({
    db: test.db,
    clock: systemClock,
    ids,
    readiness: () => [],
    forbids: () => forbidden,
    onAccepted: () => undefined,
  });
  const request = (idempotencyKey: string): RunRequest => ({
    accountId,
    regions: null,
    goalId,
    idempotencyKey,
    phone: '+12125550100',
    variables: { ok: true, values: { name: 'Ada' } },
  });
  const first = await acceptance.accept(request('first'));
  forbidden = 'phone is a premium-rate number, which no trunk allows by its prefix';
  expect(await acceptance.accept(request('first'))).toMatchObject({
    run: { id: first.run.id },
    replayed: true,
  });
  await expect(acceptance.accept(request('second'))).rejects.toMatchObject({
    code: 'invalid_phone',
    message: forbidden,
  });
});
