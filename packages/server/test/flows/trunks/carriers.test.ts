/** Two SIP carriers, as two workers have them, on one database. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { AudioMedia, CallOrder, Leg, Reservation } from '../../../src/carriers/carrier.ts';
import type { SipCarrier } from '../../../src/carriers/sip/sip-carrier.ts';
import { systemClock } from '../../../src/platform/clock.ts';
import { statement } from '../../../src/storage/database.ts';
import { openPostgres } from '../../../src/storage/postgres.ts';
import { createTrunkSlots } from '../../../src/storage/trunk-slots.ts';
import { freshDatabase, type TestDatabase } from '../../kit/database.ts';
import { openCarrier, trunkAt } from '../../kit/sip/carrier.ts';
import { startPhones, type TrunkPhones } from '../../kit/sip/phones.ts';
import { until } from '../../kit/until.ts';

const number = '+12125550100';
const never = new AbortController().signal;

let test: TestDatabase;
let phones: TrunkPhones;
let carriers: SipCarrier[];
beforeAll(async () => {
  test = await freshDatabase('postgres');
  phones = await startPhones({ [number]: (call, trunk) => void trunk.pickUp(call) });
});
afterAll(async () => {
  await phones.close();
  await test.close();
});
let trunkNumber = 0;
beforeEach(async () => {
  const name = `trunk-${(trunkNumber += 1)}`;
  const rates = [
    { prefix: '+', per_minute: 60 },
    { prefix: '+1', per_minute: 6 },
  ];
  carriers = await Promise.all(
    [1, 2].map(() =>
      openCarrier([trunkAt(phones.port, { name, max_calls: 3, rates })], {
        slots: createTrunkSlots(openPostgres({ url: test.url ?? '' }), systemClock),
        dailyLimits: { callsPerNumber: 20, callsPerAccount: 6, spendPerAccount: null },
      }),
    ),
  );
});
afterEach(() => Promise.all(carriers.map((carrier) => carrier.close())));

const reserve = (attempt: number, accountId = 'acc_1') =>
  (carriers[attempt % 2] ?? fail()).reserve(
    { attemptId: `att_${trunkNumber}_${attempt}`, accountId, to: number },
    never,
  );

function fail(): never {
  throw new Error('no carrier');
}

async function place(attempt: number): Promise<Leg<AudioMedia>> {
  const order: CallOrder = {
    attemptId: `att_${trunkNumber}_${attempt}`,
    to: number,
    from: null,
    ringLimitMs: 5_000,
    locale: 'en-US',
    simulation: {
      resultSchema: { type: 'object', additionalProperties: false, properties: {}, required: [] },
      callees: [],
    },
  };
  const placed = await (carriers[attempt % 2] ?? fail()).place(order, { progress: () => undefined }, never);
  if (placed.kind === 'ended') throw new Error(JSON.stringify(placed.ending));
  return placed.leg;
}

const kinds = (rooms: readonly Reservation[]) => rooms.map(({ kind }) => kind).toSorted();

it('both reserve no more than the trunk carries, and get the room back when a call is not placed', async () => {
  const rooms = await Promise.all([0, 1, 2, 3, 4].map((attempt) => reserve(attempt)));
  expect(kinds(rooms)).toEqual(['later', 'later', 'ready', 'ready', 'ready']);
  for (const room of rooms) if (room.kind === 'ready') await room.release();
  expect((await reserve(9, 'acc_2')).kind).toBe('ready');
});

it('a call holds its line until it is over, and its account pays for it', async () => {
  expect(kinds(await Promise.all([0, 1, 2].map((attempt) => reserve(attempt, 'acc_payer'))))).toEqual([
    'ready',
    'ready',
    'ready',
  ]);
  const legs = await Promise.all([0, 1, 2].map(place));
  expect((await reserve(3, 'acc_2')).kind).toBe('later');
  const [first] = legs;
  await first?.clock.sleep(500);
  await Promise.all(legs.map((leg) => leg.hangUp()));
  const spent = statement<{ readonly spend: string }>(
    'test_spent',
    `select spend::text from daily_usage where scope = 'account:acc_payer'`,
  );
  let spend = 0;
  await until(() => {
    void test.db.query(spent).then(([row]) => (spend = Number(row?.spend ?? 0)));
    return spend >= 3 * 50_000;
  }, 'the cost of three calls of half a second and more, at 6 a minute');
  expect(spend).toBeLessThan(3 * 6_000_000);
  expect((await reserve(4, 'acc_2')).kind).toBe('ready');
});

it('the account’s limit of the day refuses the next call, and takes no line', async () => {
  for (let attempt = 0; attempt < 6; attempt += 1) {
    const room = await reserve(attempt, 'acc_capped');
    if (room.kind !== 'ready') throw new Error(room.kind);
    await room.release();
  }
  expect(await reserve(7, 'acc_capped')).toEqual({ kind: 'refused', why: 'daily_limit' });
  expect(kinds(await Promise.all([8, 9, 10].map((attempt) => reserve(attempt, 'acc_3'))))).toEqual([
    'ready',
    'ready',
    'ready',
  ]);
});
