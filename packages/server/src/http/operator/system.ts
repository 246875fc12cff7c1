import type { ProviderReport, SettingInForce, SystemReport } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import type { TrunkBook } from '../../authoring/test-calls.ts';
import type { Clock } from '../../platform/clock.ts';
import { readServerVersion } from '../../storage/doctor.ts';
import { listDisabledEndpoints, readDatabaseSize, readWebhookBacklog } from '../../storage/system-views.ts';
import { listWorkers } from '../../storage/workers.ts';
import { maxDisabledEndpoints, readAlerts } from '../alerts.ts';
import { examine, type DoctorDeps } from './doctor.ts';
import { readTrunks } from './trunks.ts';
import { workerView } from './workers.ts';

/** What a process knows of itself and of the settings. */
export interface DeploymentFacts {
  readonly version: string;
  readonly startedAt: Date;
  readonly book: TrunkBook;
  readonly providers: readonly ProviderReport['provider'][];
  readonly settings: readonly SettingInForce[];
}

export interface SystemDeps extends DoctorDeps {
  readonly clock: Clock;
  readonly facts: DeploymentFacts;
}

export function systemRoutes(app: FastifyInstance, deps: SystemDeps): void {
  app.get('/system', () => readSystem(deps));
}

/** One question after the other, as the check-up does. */
export async function readSystem(deps: SystemDeps): Promise<SystemReport> {
  const { db, clock, facts } = deps;
  const askedAt = clock.monotonic();
  await db.query(readServerVersion);
  const latencyMs = clock.monotonic() - askedAt;
  const { workers: _leases, goals: _goals, database, ...examined } = await examine(deps);
  const [size] = await db.query(readDatabaseSize);
  const workers = await db.query(listWorkers);
  const [backlog] = await db.query(readWebhookBacklog);
  const disabled = await db.query(listDisabledEndpoints, [null, maxDisabledEndpoints]);
  return {
    ...examined,
    alerts: await readAlerts(deps, { accountId: null, operator: true }),
    version: facts.version,
    started_at: facts.startedAt.toISOString(),
    now: new Date(clock.now()).toISOString(),
    database: { ...database, size_bytes: size?.bytes ?? 0, latency_ms: Math.round(latencyMs * 10) / 10 },
    workers: workers.map(workerView),
    trunks: await readTrunks(db, facts.book, workers),
    providers_configured: facts.providers,
    webhooks: {
      due: backlog?.due ?? 0,
      waiting: backlog?.waiting ?? 0,
      oldest_due_seconds: backlog?.oldest_due_seconds ?? null,
      endpoints_disabled: disabled.length,
    },
    settings: facts.settings,
  };
}
