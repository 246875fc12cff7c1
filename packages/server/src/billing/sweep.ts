/**
 * Writes down what ended attempts would cost, away from the calls: they are found by walking over the attempts behind a
 * mark, in the order of their ids, which is that of their times.
 *
 *     ──counted──┃mark┃──counted, counted, going on, counted──▶ now
 *
 * U1 A page is one transaction: its rows, the sums of the months and the mark. A sweep that is killed loses nothing, and
 *    the next counts nothing twice, because a row that is there is left out.
 * U2 The mark passes an attempt only when it has its row and is `settledMs` old: the intents of two workers need not be
 *    committed in the order of their ids, nor need their clocks agree.
 * U3 One process sweeps at a time, and rests much longer than a sweep takes.
 */
import { formatId } from '@trunkcall/contract';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import { insertAuditEntry } from '../storage/audit.ts';
import { DatabaseUnavailable, type Database, type Queryable } from '../storage/database.ts';
import {
  findUncounted,
  listUsedBudgets,
  lockUsageMark,
  markBudgetTold,
  moveUsageMark,
  recordUsage,
  type BudgetRow,
  type UncountedRow,
  type UsageRecord,
} from '../storage/usage.ts';
import { monthOf, newlyReached } from './budget.ts';
import { priceOf, type FindRate } from './prices.ts';

export interface SweepDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly findRate: FindRate;
  /** How long a sweep rests at least, milliseconds; 5,000 by default. */
  readonly everyMs?: number;
}

const defaultEveryMs = 5_000;
/** A sweep takes at most a twentieth of one database session. */
const restFactor = 20;
const pageRows = 500;
const settledMs = 3_600_000;
/** No call is so long: an attempt that has not ended by then will not hold the mark back. */
const givenUpMs = 24 * 3_600_000;

/** Sweeps until it is stopped; `stop` resolves when the last page is written. */
export function startUsageSweep(deps: SweepDependencies): { readonly stop: () => Promise<void> } {
  const { clock, log, everyMs = defaultEveryMs } = deps;
  const stopping = new AbortController();
  const done = (async () => {
    while (!stopping.signal.aborted) {
      const began = clock.monotonic();
      try {
        await sweepUsage(deps, stopping.signal);
      } catch (error) {
        const away = error instanceof DatabaseUnavailable;
        log[away ? 'warn' : 'error']({ err: error }, away ? 'database unavailable' : 'usage sweep failed');
      }
      await clock.sleep(Math.max(everyMs, restFactor * (clock.monotonic() - began)), stopping.signal);
    }
  })();
  return {
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

/** Counts everything that has ended, then tells of budgets. Safe to repeat: yes. */
export async function sweepUsage(deps: SweepDependencies, signal?: AbortSignal): Promise<void> {
  for (let walk: Walk | null = { after: null, passing: true }; walk !== null;) {
    if (signal?.aborted === true) return;
    const present: Walk = walk;
    walk = await deps.db.transaction((tx) => countPage(tx, deps, present));
  }
  await tellOfBudgets(deps);
}

/** How far a sweep has come. */
interface Walk {
  /** Null: begin at the mark. */
  readonly after: string | null;
  /** Whether the mark goes along: nothing that holds it back was met. */
  readonly passing: boolean;
}

/** Ends with where the next page begins; null when there is none, or another process sweeps. */
async function countPage(
  tx: Queryable,
  { clock, findRate }: SweepDependencies,
  { after, passing }: Walk,
): Promise<Walk | null> {
  const [mark] = await tx.query(lockUsageMark);
  if (mark === undefined) return null;
  const firstIdSince = (ageMs: number) => firstIdOf(clock.now() - ageMs);
  const young = [firstIdSince(settledMs), firstIdSince(givenUpMs)];
  const rows = await tx.query(findUncounted, [after ?? mark.attempt_id, pageRows, ...young]);
  const { last_id: lastId = null, passed_id: passedId = null, seen = 0 } = rows[0] ?? {};
  const records = rows.flatMap((row) => recordOf(row, findRate));
  if (records.length > 0) await tx.query(recordUsage, [JSON.stringify(records)]);
  if (passing && passedId !== null) await tx.query(moveUsageMark, [passedId]);
  return seen < pageRows ? null : { after: lastId, passing: passing && passedId === lastId };
}

const firstIdOf = (unixMs: number): string => formatId('att', Math.max(0, unixMs), new Uint8Array(10));

/** None for an attempt that goes on. */
function recordOf(row: UncountedRow, findRate: FindRate): UsageRecord[] {
  const { id, day, goal_id, direction, phone, answered_ms: answeredMs } = row;
  if (id === null || day === null) return [];
  const mode = goal_id === null ? 'one_shot' : 'goal';
  const { country, domestic, modelPeriods, modelPerPeriod, model, carrier } = priceOf(
    { mode, direction, phone, answeredMs },
    findRate,
  );
  const known = carrier.kind === 'known' ? carrier : null;
  return [
    {
      attempt_id: id,
      run_id: row.run_id,
      account_id: row.account_id,
      goal_id,
      call_id: row.call_id,
      mode,
      direction,
      country,
      domestic,
      day,
      answered_ms: answeredMs,
      model_periods: modelPeriods,
      model_per_period: modelPerPeriod.toString(),
      model_amount: model.toString(),
      carrier_seconds: known?.seconds ?? null,
      carrier_per_minute: known?.rate.perMinute.toString() ?? null,
      carrier_increments: known === null ? null : `${known.rate.first}/${known.rate.next}`,
      carrier_amount: carrier.kind === 'unknown' ? null : (known?.amount ?? 0n).toString(),
    },
  ];
}

/** Tells of the budgets of the month that runs: of each threshold once in a month. Nothing is held up by a budget. */
async function tellOfBudgets(deps: SweepDependencies): Promise<void> {
  const month = monthOf(deps.clock.now());
  for (let after = ''; ;) {
    const budgets = await deps.db.query(listUsedBudgets, [month, after, pageRows]);
    for (const budget of budgets) await tellOfBudget(deps, month, budget);
    after = budgets.at(-1)?.account_id ?? '';
    if (budgets.length < pageRows) return;
  }
}

async function tellOfBudget(
  { db, ids, log }: SweepDependencies,
  month: string,
  row: BudgetRow,
): Promise<void> {
  const { account_id, told_percent } = row;
  const reached = newlyReached(BigInt(row.amount), BigInt(row.monthly_budget), told_percent);
  const highest = reached.at(-1);
  if (highest === undefined) return;
  const told = await db.transaction(async (tx) => {
    if ((await tx.query(markBudgetTold, [account_id, month, highest, told_percent])).length === 0)
      return false;
    for (const percent of reached) {
      const details = JSON.stringify({ percent, month: month.slice(0, 7) });
      await tx.query(insertAuditEntry, [
        ids.next('aud'),
        null,
        account_id,
        'budget.reached',
        account_id,
        details,
      ]);
    }
    return true;
  });
  if (told) log.warn({ account_id, percent: highest, month: month.slice(0, 7) }, 'budget reached');
}
