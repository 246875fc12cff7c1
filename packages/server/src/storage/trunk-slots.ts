/** The limits of trunks and numbers, in the database: they hold over all workers. */
import type { DailyLimits, Taken, TrunkLimits, TrunkSlots } from '../carriers/sip/slots.ts';
import type { Clock } from '../platform/clock.ts';
import { statement, type Database, type Queryable } from './database.ts';

/** A line that was not renewed for so long is free, milliseconds. */
const holdMs = 60_000;
/** A call waits for a turn that is nearer than this, milliseconds; for a later one its job does. */
const horizonMs = 1_500;
/** When a trunk without a free line is looked at again, milliseconds. */
const fullPauseMs = 1_000;

const today = `(now() at time zone 'utc')::date`;

/** Values: trunk, number of lines. */
const prepareLines = statement<never>(
  'prepare_trunk_lines',
  `insert into trunk_lines (trunk, number) select $1, n from generate_series(1, $2::int) n on conflict do nothing`,
);
/** Values: trunk. */
const prepareTurns = statement<never>(
  'prepare_trunk_turns',
  'insert into trunk_turns (trunk) values ($1) on conflict do nothing',
);

/** Takes the line that has been free the longest. Values: trunk, most lines, attempt id, hold in milliseconds. */
export const takeTrunkLine = statement<{ readonly number: number }>(
  'take_trunk_line',
  `with free as materialized (
     select number from trunk_lines
     where trunk = $1 and held_until <= now() and number <= $2
     order by held_until limit 1 for no key update skip locked
   )
   update trunk_lines set attempt_id = $3, held_until = now() + $4 * interval '1 millisecond'
   where trunk = $1 and number = (select number from free)
   returning number`,
);

/**
 * Books the next turn to call, if it is near enough. A row: how long to wait for it.
 * Values: trunk, milliseconds between calls, horizon in milliseconds.
 */
export const takeTrunkTurn = statement<{ readonly wait_ms: number }>(
  'take_trunk_turn',
  `update trunk_turns
   set next_at = greatest(next_at, now()) + $2::float8 * interval '1 millisecond'
   where trunk = $1 and next_at <= now() + $3 * interval '1 millisecond'
   returning (extract(epoch from next_at - now()) * 1000 - $2::float8)::float8 as wait_ms`,
);

/** Values: attempt ids, hold in milliseconds. */
export const renewTrunkLines = statement<never>(
  'renew_trunk_lines',
  `update trunk_lines set held_until = now() + $2 * interval '1 millisecond' where attempt_id = any ($1::text[])`,
);

/** Values: attempt id. */
export const releaseTrunkLine = statement<never>(
  'release_trunk_line',
  `update trunk_lines set attempt_id = null, held_until = '-infinity' where attempt_id = $1`,
);

/** Counts a call on this day; no row, and nothing is counted, at a limit. Values: scope, most calls, most spend or null. */
export const countDailyCall = statement<{ readonly calls: number }>(
  'count_daily_call',
  `insert into daily_usage as u (day, scope, calls) values (${today}, $1, 1)
   on conflict (day, scope) do update set calls = u.calls + 1
   where u.calls < $2 and ($3::bigint is null or u.spend < $3::bigint)
   returning calls`,
);

/** Values: scope, spend. */
export const addDailySpend = statement<never>(
  'add_daily_spend',
  `insert into daily_usage as u (day, scope, spend) values (${today}, $1, $2::bigint)
   on conflict (day, scope) do update set spend = u.spend + excluded.spend`,
);

/** Values: scope, spend. */
export const countTrunkCall = statement<never>(
  'count_trunk_call',
  `insert into daily_usage as u (day, scope, calls, spend) values (${today}, $1, 1, $2::bigint)
   on conflict (day, scope) do update set calls = u.calls + 1, spend = u.spend + excluded.spend`,
);

const forgetOldDays = statement<never>(
  'forget_old_usage',
  `delete from daily_usage where day < ${today} - 7`,
);

class LimitReached extends Error {}

export function createTrunkSlots(db: Database, clock: Clock): TrunkSlots {
  let tidyDay = '';
  return {
    async prepare(trunks) {
      for (const { trunk, maxCalls } of trunks) {
        await db.query(prepareLines, [trunk, maxCalls]);
        await db.query(prepareTurns, [trunk]);
      }
    },
    async take(limits, attemptId, signal) {
      const [line] = await db.query(takeTrunkLine, [limits.trunk, limits.maxCalls, attemptId, holdMs]);
      if (line === undefined) return { kind: 'later', inMs: fullPauseMs };
      try {
        const taken = await takeTurn(limits, signal);
        if (taken.kind === 'later') await db.query(releaseTrunkLine, [attemptId]);
        return taken;
      } catch (error) {
        // The line would come back by itself; sooner is better.
        await db.query(releaseTrunkLine, [attemptId]).catch(() => undefined);
        throw error;
      }
    },
    async renew(attemptIds) {
      await db.query(renewTrunkLines, [attemptIds, holdMs]);
    },
    async release(attemptId) {
      await db.query(releaseTrunkLine, [attemptId]);
    },
    async countCall(accountId, phone, limits) {
      await tidy();
      try {
        await db.transaction((tx) => countCall(tx, accountId, phone, limits));
        return true;
      } catch (error) {
        if (error instanceof LimitReached) return false;
        throw error;
      }
    },
    async countTrunkCall(trunk, cost) {
      await db.query(countTrunkCall, [trunkScope(trunk), cost]);
    },
    async addCost(accountId, cost) {
      await db.query(addDailySpend, [accountScope(accountId), cost]);
    },
  };

  async function takeTurn({ trunk, callsPerSecond }: TrunkLimits, signal: AbortSignal): Promise<Taken> {
    const [turn] = await db.query(takeTrunkTurn, [trunk, 1_000 / callsPerSecond, horizonMs]);
    if (turn === undefined) return { kind: 'later', inMs: horizonMs };
    const waited = turn.wait_ms <= 0 || (await clock.sleep(turn.wait_ms, signal));
    return waited ? { kind: 'taken' } : { kind: 'later', inMs: 0 };
  }

  /** Once a day in each process. */
  async function tidy(): Promise<void> {
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    if (day === tidyDay) return;
    tidyDay = day;
    await db.query(forgetOldDays);
  }
}

export const trunkScope = (trunk: string) => `trunk:${trunk}`;
const accountScope = (accountId: string) => `account:${accountId}`;

/** Both or none. The account's row is locked first, here and everywhere. Throws: LimitReached. */
async function countCall(
  tx: Queryable,
  accountId: string,
  phone: string,
  limits: DailyLimits,
): Promise<void> {
  const account = [accountScope(accountId), limits.callsPerAccount, limits.spendPerAccount] as const;
  const number = [`number:${phone}`, limits.callsPerNumber, null] as const;
  for (const values of [account, number]) {
    const counted = await tx.query(countDailyCall, values);
    if (counted.length === 0) throw new LimitReached();
  }
}
