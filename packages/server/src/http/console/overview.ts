import { formatId, usageNotice, type ConsoleOverview } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { getAccount } from '../../authoring/accounts.ts';
import type { Readiness } from '../../authoring/readiness.ts';
import { monthOf } from '../../billing/budget.ts';
import {
  readAnswerWaits,
  readFirstWords,
  readOutcomes,
  readWaiting,
  type OutcomeRow,
  type QuantilesRow,
} from '../../storage/console-views.ts';
import type { Database } from '../../storage/database.ts';
import { listGoals } from '../../storage/goals.ts';
import { findUsageMonth } from '../../storage/usage.ts';
import { budgetView } from '../operator/usage-views.ts';
import { requireRight } from './access.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';

const hours = 24;
const hourMs = 3_600_000;
/** Of an account with more runs a day the newest are a fair picture. */
const maxRuns = 5_000;
/** Of each run. */
const maxTurns = 40;
const lateAfterSeconds = 60;
const maxAlerts = 20;

/** The last 24 hours of an account, beginning with a whole hour. */
export function overviewRoutes(
  app: FastifyInstance,
  { db, clock, readiness, providerProblems }: ConsoleDeps,
): void {
  app.get<{ Params: { account: string } }>('/accounts/:account/overview', async (request) => {
    const { account } = request.params;
    requireRight(visitorOf(request).session, account, 'account.read');
    const fromMs = (Math.floor(clock.now() / hourMs) - hours + 1) * hourMs;
    const overview = await readOverview(db, readiness, account, fromMs, clock.now());
    const broken = providerProblems().map((message) => ({ message, goal_id: null }));
    return { ...overview, alerts: [...broken, ...overview.alerts].slice(0, maxAlerts) };
  });
}

async function readOverview(
  db: Database,
  readiness: Readiness,
  accountId: string,
  fromMs: number,
  nowMs: number,
): Promise<ConsoleOverview> {
  const { active_calls, max_active_calls, monthly_budget } = await getAccount(db, accountId);
  const firstId = formatId('run', fromMs, new Uint8Array(10));
  const [waiting] = await db.query(readWaiting, [accountId]);
  const rows = await db.query(readOutcomes, [accountId, firstId, maxRuns, new Date(fromMs)]);
  const [words] = await db.query(readFirstWords, [accountId, firstId, maxRuns]);
  const [waits] = await db.query(readAnswerWaits, [accountId, firstId, maxRuns, maxTurns]);
  const oldest = waiting?.oldest_seconds ?? null;
  const late = oldest !== null && oldest > lateAfterSeconds;
  const goals = await db.query(listGoals, [accountId, null, 100]);
  const notReady = goals.flatMap(({ id, state, published }) =>
    published === null || state === 'retired'
      ? []
      : readiness(published).map((reason) => ({ message: `${published.title}: ${reason}`, goal_id: id })),
  );
  const budgetAlert = await readBudgetAlert(db, accountId, monthly_budget, monthOf(nowMs));
  return {
    calls_now: active_calls,
    max_calls: max_active_calls,
    waiting: waiting?.waiting ?? 0,
    oldest_waiting_seconds: oldest,
    runs: sum(rows),
    counted_at_most: maxRuns,
    ...summary(rows),
    first_word: quantiles(words),
    answer_wait: quantiles(waits),
    hours: Array.from({ length: hours }, (_, hour) => hourView(rows, hour, fromMs)),
    alerts: [
      ...(late ? [{ message: `Calls have waited for ${Math.round(oldest)} s.`, goal_id: null }] : []),
      ...(budgetAlert === null ? [] : [{ message: budgetAlert, goal_id: null }]),
      ...notReady,
    ].slice(0, maxAlerts),
  };
}

/** Null below the first threshold of the budget, and without one. */
async function readBudgetAlert(
  db: Database,
  accountId: string,
  budget: string | null,
  month: string,
): Promise<string | null> {
  if (budget === null) return null;
  const [row] = await db.query(findUsageMonth, [accountId, month]);
  const { reached, percent, used, monthly } = budgetView(month, budget, row);
  if (reached === null) return null;
  return `This month’s calls would cost ${used} USD: ${percent} % of the budget of ${monthly} USD. ${usageNotice}`;
}

const quantiles = (row: QuantilesRow | undefined) =>
  row === undefined || row.p50 === null ? null : { p50: row.p50, p95: row.p95 ?? row.p50 };

const sum = (rows: readonly OutcomeRow[]): number => rows.reduce((total, { runs }) => total + runs, 0);

function summary(rows: readonly OutcomeRow[]) {
  const byOutcome = Map.groupBy(rows, ({ status, error_code }) => `${status} ${error_code}`);
  const outcomes = [...byOutcome.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ status: first.status, error: first.error_code, runs: sum(group) }];
  });
  const placed = rows.filter(({ ended }) => ended);
  const answered = placed.filter((row) => row.answered);
  const results = answered.filter(({ has_result }) => has_result);
  return {
    outcomes: outcomes.sort((a, b) => b.runs - a.runs),
    answer_rate: rate(sum(answered), sum(placed)),
    result_rate: rate(sum(results), sum(answered)),
  };
}

const rate = (part: number, whole: number): number | null => (whole === 0 ? null : part / whole);

function hourView(rows: readonly OutcomeRow[], hour: number, fromMs: number) {
  const inHour = rows.filter((row) => row.hour === hour);
  const results = sum(inHour.filter(({ has_result }) => has_result));
  return { from: new Date(fromMs + hour * hourMs).toISOString(), results, others: sum(inHour) - results };
}
