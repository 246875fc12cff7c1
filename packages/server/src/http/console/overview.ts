import { formatId, type Alert, type ConsoleOverview } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { getAccount } from '../../authoring/accounts.ts';
import {
  readAnswerWaits,
  readFirstWords,
  readOutcomes,
  readWaiting,
  type OutcomeRow,
  type QuantilesRow,
} from '../../storage/console-views.ts';
import { readAlerts, type AlertDeps } from '../alerts.ts';
import { requireRight } from './access.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';

const hours = 24;
const hourMs = 3_600_000;
/** Of an account with more runs a day the newest are a fair picture. */
const maxRuns = 5_000;
/** Of each run. */
const maxTurns = 40;

/** The last 24 hours of an account, beginning with a whole hour. */
export function overviewRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  app.get<{ Params: { account: string } }>('/accounts/:account/overview', async (request) => {
    const { account } = request.params;
    const { session } = visitorOf(request);
    requireRight(session, account, 'account.read');
    const alerts = await readAlerts(deps, { accountId: account, operator: session.operator });
    return readOverview(deps, account, alerts);
  });
}

async function readOverview(
  { db, clock }: AlertDeps,
  accountId: string,
  alerts: readonly Alert[],
): Promise<ConsoleOverview> {
  const fromMs = (Math.floor(clock.now() / hourMs) - hours + 1) * hourMs;
  const { active_calls, max_active_calls } = await getAccount(db, accountId);
  const firstId = formatId('run', fromMs, new Uint8Array(10));
  const [waiting] = await db.query(readWaiting, [accountId]);
  const rows = await db.query(readOutcomes, [accountId, firstId, maxRuns, new Date(fromMs)]);
  const [words] = await db.query(readFirstWords, [accountId, firstId, maxRuns]);
  const [waits] = await db.query(readAnswerWaits, [accountId, firstId, maxRuns, maxTurns]);
  const oldest = waiting?.oldest_seconds ?? null;
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
    alerts,
  };
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
