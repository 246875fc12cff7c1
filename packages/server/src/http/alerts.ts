/**
 * What wants attention now, and what to do about it. Each source is a function of its own; `readAlerts` asks them all.
 * An account's people are told what concerns the account; operators are told of everything.
 */
import { usageNotice, type Alert, type ProviderReport } from '@trunkcall/contract';
import { getAccount } from '../authoring/accounts.ts';
import type { Readiness } from '../authoring/readiness.ts';
import type { TrunkBook } from '../authoring/test-calls.ts';
import { monthOf } from '../billing/budget.ts';
import type { Clock } from '../platform/clock.ts';
import type { Queryable } from '../storage/database.ts';
import { listGoals } from '../storage/goals.ts';
import { listDisabledEndpoints, readLateness } from '../storage/system-views.ts';
import { findUsageMonth } from '../storage/usage.ts';
import { listWorkers, type WorkerRow } from '../storage/workers.ts';
import { readTrunks } from './operator/trunks.ts';
import { budgetView } from './operator/usage-views.ts';

export interface AlertDeps {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly readiness: Readiness;
  /** What is wrong with the providers of this process; a sentence each. */
  readonly providerProblems: () => readonly string[];
  readonly facts: { readonly book: TrunkBook };
}

/** Whom to tell. */
export interface Audience {
  /** Null: all accounts. */
  readonly accountId: string | null;
  /** Runs the deployment. */
  readonly operator: boolean;
}

interface Situation extends AlertDeps, Audience {
  readonly workers: readonly WorkerRow[];
}

type Source = (situation: Situation) => Alert[] | Promise<Alert[]>;

/** The gravest first. */
const sources: readonly Source[] = [
  noWorker,
  trunks,
  silentWorkers,
  rejectedKeys,
  providers,
  lateness,
  disabledEndpoints,
  budget,
  goalsNotReady,
];

const maxAlerts = 20;
export const maxDisabledEndpoints = 100;
const lateAfterSeconds = 60;
/** A failure that is older says nothing of now, milliseconds. */
const failingForMs = 15 * 60_000;

/** One question after the other: the embedded database has a single session. */
export async function readAlerts(deps: AlertDeps, audience: Audience): Promise<Alert[]> {
  const situation = { ...deps, ...audience, workers: await deps.db.query(listWorkers) };
  const alerts: Alert[] = [];
  for (const source of sources) alerts.push(...(await source(situation)));
  return alerts.slice(0, maxAlerts);
}

const alert = (kind: Alert['kind'], message: string, hint: string, goalId: string | null = null): Alert => ({
  kind,
  message,
  hint,
  goal_id: goalId,
});

const placesCalls = ({ alive, roles }: WorkerRow) => alive && roles.includes('worker');

function noWorker({ workers, operator }: Situation): Alert[] {
  const able = workers.filter(placesCalls);
  if (able.some(({ draining }) => !draining)) return [];
  const hint = operator
    ? able.length > 0
      ? 'Let one of them take calls again, on the page System.'
      : 'Start a process with the role worker (TRUNKCALL_ROLES), and look at the log of the last one.'
    : 'Calls wait meanwhile and are not lost. Whoever runs this deployment is told.';
  const message =
    able.length > 0 ? 'Every worker is draining: no call begins.' : 'No worker is alive: no call begins.';
  return [alert('no_worker', message, hint)];
}

async function trunks({ db, facts, workers, operator }: Situation): Promise<Alert[]> {
  const known = (await readTrunks(db, facts.book, workers)).filter(({ workers: by }) => by.length > 0);
  const bad = known.filter(({ state }) => state === 'down' || state === 'resting' || state === 'partly_up');
  if (!operator) {
    const none = known.length > 0 && known.every(({ state }) => state === 'down' || state === 'resting');
    const hint = 'Calls wait meanwhile and are not lost. Whoever runs this deployment is told.';
    return none ? [alert('no_trunk', 'No trunk is up: no call begins.', hint)] : [];
  }
  return bad.map(({ name, state, why }) => {
    const how = state === 'partly_up' ? 'down for some workers' : state;
    const hint = 'Look at it on the page Trunks, and place a test call.';
    return alert('trunk_down', `The trunk ${name} is ${how}${why === null ? '' : `: ${why}`}.`, hint);
  });
}

function silentWorkers({ workers, operator }: Situation): Alert[] {
  if (!operator) return [];
  return workers
    .filter(({ alive }) => !alive)
    .map(({ host, id, last_seen_at: seen }) =>
      alert(
        'worker_silent',
        `The process ${id} on ${host} was not heard of since ${seen.toISOString()}.`,
        'It died or hangs; its calls are decided by the others. Its log says more. It is forgotten after 15 minutes.',
      ),
    );
}

function rejectedKeys({ providerProblems, operator }: Situation): Alert[] {
  const hint = operator
    ? 'Check the key in the settings, and its state at the provider.'
    : 'Whoever runs this deployment is told.';
  return providerProblems().map((message) => alert('provider_failing', message, hint));
}

function providers({ workers, operator, clock }: Situation): Alert[] {
  if (!operator) return [];
  const reports = workers.filter(({ alive }) => alive).flatMap((worker) => worker.providers);
  const names = [...new Set(reports.map(({ provider }) => provider))];
  return names.flatMap((name) => {
    const own = reports.filter(({ provider }) => provider === name);
    const failing = own.filter((report) => isFailing(report, clock.now()));
    const [first] = failing.toSorted((a, b) => timeOfFailure(b) - timeOfFailure(a));
    const failure = first?.last_failure ?? null;
    if (failure === null) return [];
    const hint = 'Check its key and URL in the settings, and the state that the provider reports.';
    return [alert('provider_failing', `The provider ${name} fails: ${failure.note}.`, hint)];
  });
}

const timeOfFailure = ({ last_failure: failure }: ProviderReport): number => Date.parse(failure?.at ?? '');

/** Whether the last thing that is known of it is a failure, not long ago. */
function isFailing(report: ProviderReport, nowMs: number): boolean {
  const { last_failure: failure, last_success_at: success, paused_until: pausedUntil } = report;
  if (failure === null) return false;
  if (pausedUntil !== null && Date.parse(pausedUntil) > nowMs) return true;
  if (success !== null && Date.parse(success) > Date.parse(failure.at)) return false;
  return nowMs - Date.parse(failure.at) < failingForMs;
}

async function lateness({ db, accountId, operator }: Situation): Promise<Alert[]> {
  const [row] = await db.query(readLateness, [accountId]);
  const seconds = row?.seconds ?? 0;
  if (seconds <= lateAfterSeconds) return [];
  const hint = operator
    ? 'Is a worker alive, is a trunk up, is a limit on calls at once reached?'
    : 'Perhaps the limit on calls at once is reached; an operator can raise it.';
  return [alert('queue_late', `Calls have waited for ${Math.round(seconds)} s.`, hint)];
}

async function disabledEndpoints({ db, accountId }: Situation): Promise<Alert[]> {
  const endpoints = await db.query(listDisabledEndpoints, [accountId, maxDisabledEndpoints]);
  return endpoints.map(({ id, disabled_reason: reason }) =>
    alert(
      'webhook_disabled',
      reason === 'gone'
        ? `The webhook endpoint ${id} is disabled: its receiver answered 410.`
        : `The webhook endpoint ${id} is disabled: it failed for five days.`,
      'Mend the receiver, then enable the endpoint and replay what it missed.',
    ),
  );
}

/** From the first threshold of the account’s budget on. */
async function budget({ db, accountId, clock }: Situation): Promise<Alert[]> {
  if (accountId === null) return [];
  const { monthly_budget: limit } = await getAccount(db, accountId);
  if (limit === null) return [];
  const month = monthOf(clock.now());
  const [row] = await db.query(findUsageMonth, [accountId, month]);
  const { reached, percent, used, monthly } = budgetView(month, limit, row);
  if (reached === null) return [];
  const message = `This month’s calls would cost ${used} USD: ${percent} % of the budget of ${monthly} USD.`;
  return [alert('budget_reached', message, usageNotice)];
}

const maxGoals = 100;

async function goalsNotReady({ db, accountId, readiness }: Situation): Promise<Alert[]> {
  // Of a deployment the check-up lists them all.
  if (accountId === null) return [];
  const goals = await db.query(listGoals, [accountId, null, maxGoals]);
  return goals.flatMap(({ id, state, published }) =>
    published === null || state === 'retired'
      ? []
      : readiness(published).map((reason) =>
          alert(
            'goal_not_ready',
            `${published.title}: ${reason}`,
            'Change the Goal, or what the deployment has for it.',
            id,
          ),
        ),
  );
}
