/** What calls would cost: for the operator API, and for the console, which shows the same. Reads only (I7). */
import { Readable } from 'node:stream';
import {
  usageGroupings,
  usageNotice,
  type DeploymentUsage,
  type Usage,
  type UsageGrouping,
} from '@trunkcall/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { getAccount } from '../../authoring/accounts.ts';
import { monthOf } from '../../billing/budget.ts';
import type { Clock } from '../../platform/clock.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { AccountRow } from '../../storage/accounts.ts';
import type { Queryable } from '../../storage/database.ts';
import {
  findUsageMonth,
  listUsage,
  sumUsage,
  sumUsageByAccount,
  sumUsageByDay,
  sumUsageByGoal,
  type UsageSums,
} from '../../storage/usage.ts';
import { csvLine } from '../csv.ts';
import { queryParameters } from '../query.ts';
import { pageOf, readPage } from './page.ts';
import {
  accountSheet,
  amountsView,
  budgetView,
  callSheet,
  callUsageView,
  daySheet,
  goalSheet,
  type Sheet,
} from './usage-views.ts';

export interface UsageRoutesDeps {
  readonly db: Queryable;
  readonly clock: Clock;
}

export function usageRoutes(app: FastifyInstance, deps: UsageRoutesDeps): void {
  app.get<{ Params: { account: string } }>('/accounts/:account/usage', async (request, reply) =>
    answerUsage(deps, await getAccount(deps.db, request.params.account), request, reply),
  );
  app.get('/usage', (request, reply) => answerDeploymentUsage(deps, request, reply));
}

/** Usage of an account by day, Goal or call, as JSON or as CSV. Throws: Refusal `invalid_request`. */
export async function answerUsage(
  { db, clock }: UsageRoutesDeps,
  account: AccountRow,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Usage | FastifyReply> {
  const sent = queryParameters(request, ['from', 'to', 'by', 'format', 'after', 'limit']);
  const days = readDays(sent, clock);
  const by = readGrouping(sent.by);
  const isPaged = sent.after !== undefined || sent.limit !== undefined;
  if (readFormat(sent.format) === 'csv') {
    if (isPaged)
      throw new Refusal('invalid_request', 'after and limit do not go with format=csv: it is whole');
    return sendCsv(reply, `usage-${by}-${days.from}-${days.to}.csv`, csvOf(db, account.id, by, days));
  }
  if (isPaged && by !== 'call')
    throw new Refusal('invalid_request', 'after and limit go with by=call alone; other lists are whole');
  const values = [account.id, days.from, days.to] as const;
  const month = monthOf(clock.now());
  const [used] = await db.query(findUsageMonth, [account.id, month]);
  const head = {
    object: 'usage',
    ...preview(days, await db.query(sumUsage, values)),
    account_id: account.id,
    budget: budgetView(month, account.monthly_budget, used),
  } as const;
  switch (by) {
    case 'day':
      return { ...head, by, data: (await db.query(sumUsageByDay, values)).map(dayView), next_cursor: null };
    case 'goal':
      return { ...head, by, data: (await db.query(sumUsageByGoal, values)).map(goalView), next_cursor: null };
    case 'call': {
      const page = readPage(sent, 'att');
      const rows = await db.query(listUsage, [...values, page.after, page.rows]);
      const { data, next_cursor } = pageOf(page, rows.map(callUsageView));
      return { ...head, by, data, next_cursor };
    }
  }
}

/** Totals of all accounts, as JSON or as CSV. Throws: Refusal `invalid_request`. */
export async function answerDeploymentUsage(
  { db, clock }: UsageRoutesDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<DeploymentUsage | FastifyReply> {
  const sent = queryParameters(request, ['from', 'to', 'format']);
  const days = readDays(sent, clock);
  const rows = await db.query(sumUsageByAccount, [days.from, days.to]);
  const data = rows.map(({ account_id, name, ...sums }) => ({ account_id, name, ...amountsView(sums) }));
  if (readFormat(sent.format) === 'csv')
    return sendCsv(reply, `usage-account-${days.from}-${days.to}.csv`, linesOf(accountSheet, data));
  return { object: 'usage', ...preview(days, rows), by: 'account', data };
}

interface Days {
  /** Both `YYYY-MM-DD`, UTC. */
  readonly from: string;
  readonly to: string;
}

const dayMs = 86_400_000;
const mostDays = 366;

function readDays(sent: { readonly from?: string; readonly to?: string }, clock: Clock): Days {
  const to = readDay('to', sent.to) ?? clock.now();
  const from = readDay('from', sent.from) ?? Date.parse(monthOf(to));
  const count = Math.floor(to / dayMs) - Math.floor(from / dayMs) + 1;
  if (count < 1) throw new Refusal('invalid_request', 'from must not be behind to');
  if (count > mostDays)
    throw new Refusal('invalid_request', `from and to must span at most ${mostDays} days`);
  return { from: dayOf(from), to: dayOf(to) };
}

const dayOf = (unixMs: number): string => new Date(unixMs).toISOString().slice(0, 10);

/** Unix milliseconds of the day's beginning; null when nothing was sent. */
function readDay(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const time = /^[2-9]\d{3}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  // 2030-02-30 is read as a day of March by some.
  if (Number.isNaN(time) || dayOf(time) !== text)
    throw new Refusal('invalid_request', `${name} must be a day (UTC) such as 2030-01-31`);
  return time;
}

function readGrouping(text: string | undefined): UsageGrouping {
  const by = usageGroupings.find((known) => known === (text ?? 'day'));
  if (by === undefined)
    throw new Refusal('invalid_request', `by must be one of: ${usageGroupings.join(', ')}`);
  return by;
}

function readFormat(text = 'json'): 'json' | 'csv' {
  if (text === 'json' || text === 'csv') return text;
  throw new Refusal('invalid_request', 'format must be json or csv');
}

function preview({ from, to }: Days, rows: readonly UsageSums[]) {
  const sum = (part: (sums: UsageSums) => bigint) => rows.reduce((total, row) => total + part(row), 0n);
  const count = (part: (sums: UsageSums) => number) => Number(sum((sums) => BigInt(part(sums))));
  const totals = amountsView({
    attempts: count(({ attempts }) => attempts),
    answered: count(({ answered }) => answered),
    answered_ms: count(({ answered_ms }) => answered_ms),
    model_periods: count(({ model_periods }) => model_periods),
    model_amount: sum(({ model_amount }) => BigInt(model_amount)).toString(),
    carrier_amount: sum(({ carrier_amount }) => BigInt(carrier_amount)).toString(),
    carrier_unknown: count(({ carrier_unknown }) => carrier_unknown),
  });
  return { preview: true, charged: false, notice: usageNotice, currency: 'USD', from, to, totals } as const;
}

const dayView = ({ day, ...sums }: UsageSums & { readonly day: string }) => ({ day, ...amountsView(sums) });

const goalView = ({
  goal_id,
  title,
  ...sums
}: UsageSums & { readonly goal_id: string | null; readonly title: string | null }) => ({
  goal_id,
  title,
  ...amountsView(sums),
});

const rowsPerTrip = 1_000;

/** Of calls page by page: only what the client has room for is read. */
async function* csvOf(
  db: Queryable,
  accountId: string,
  by: UsageGrouping,
  { from, to }: Days,
): AsyncGenerator<string> {
  const values = [accountId, from, to] as const;
  if (by === 'day') return yield* linesOf(daySheet, (await db.query(sumUsageByDay, values)).map(dayView));
  if (by === 'goal') return yield* linesOf(goalSheet, (await db.query(sumUsageByGoal, values)).map(goalView));
  yield csvLine(callSheet.names);
  for (let after: string | null = null; ;) {
    const rows: Awaited<ReturnType<typeof readRows>> = await readRows(after);
    for (const row of rows) yield csvLine(callSheet.cells(callUsageView(row)));
    after = rows.at(-1)?.attempt_id ?? null;
    if (rows.length < rowsPerTrip) return;
  }

  function readRows(behind: string | null) {
    return db.query(listUsage, [...values, behind, rowsPerTrip]);
  }
}

function* linesOf<Item>({ names, cells }: Sheet<Item>, items: readonly Item[]): Generator<string> {
  yield csvLine(names);
  for (const item of items) yield csvLine(cells(item));
}

function sendCsv(
  reply: FastifyReply,
  name: string,
  lines: Iterable<string> | AsyncIterable<string>,
): FastifyReply {
  reply
    .header('content-type', 'text/csv; charset=utf-8; header=present')
    .header('content-disposition', `attachment; filename="${name}"`);
  return reply.send(Readable.from(lines));
}
