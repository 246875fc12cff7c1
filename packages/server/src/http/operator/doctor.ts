import type { DoctorReport } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import type { Readiness } from '../../authoring/readiness.ts';
import type { Database } from '../../storage/database.ts';
import type { Environment } from '../../storage/deployment.ts';
import {
  listMigrations,
  readQueues,
  readServerVersion,
  readWorkers,
  readWrongCounters,
} from '../../storage/doctor.ts';
import { listGoals, type GoalRow } from '../../storage/goals.ts';
import { checkDurability } from '../../storage/postgres.ts';

export interface DoctorDeps {
  readonly db: Database;
  readonly environment: Environment;
  readonly readiness: Readiness;
  /** What is wrong with the providers of this process; a sentence each. */
  readonly providerProblems: () => readonly string[];
}

/** Due work that waits longer than this points to missing workers or exhausted limits. */
const lateAfterSeconds = 60;

export function doctorRoutes(app: FastifyInstance, deps: DoctorDeps): void {
  app.get('/doctor', () => examine(deps));
}

/** One after the other: the embedded database has a single session, and nobody waits for a check-up. */
export async function examine({
  db,
  environment,
  readiness,
  providerProblems,
}: DoctorDeps): Promise<DoctorReport> {
  const [server] = await db.query(readServerVersion);
  const durability = db.kind === 'postgres' ? await checkDurability(db) : [];
  const migrations = await db.query(listMigrations);
  const queues = await db.query(readQueues);
  const workers = await db.query(readWorkers);
  const wrongCounters = await db.query(readWrongCounters);
  const goals = await publishedGoals(db, readiness);
  return {
    problems: [
      ...durability.map(({ setting, value, meaning }) => `${setting} is ${value}: ${meaning}`),
      ...queues.flatMap(queueProblems),
      ...providerProblems(),
      ...wrongCounters.map(
        ({ scope, counted, leased }) => `the counter ${scope} says ${counted} calls, leased are ${leased}`,
      ),
      ...goals.flatMap(({ id, not_ready }) => not_ready.map((reason) => `${id} is not ready: ${reason}`)),
    ],
    environment,
    database: {
      kind: db.kind,
      version: server?.version ?? 'unknown',
      migrations: migrations.map(({ name, applied_at }) => ({ name, applied_at: applied_at.toISOString() })),
    },
    queues,
    workers,
    wrong_counters: wrongCounters,
    goals,
  };
}

/** A hundred at a time: a Goal may be large. */
async function publishedGoals(db: Database, readiness: Readiness): Promise<DoctorReport['goals']> {
  const goals: DoctorReport['goals'][number][] = [];
  for (let after: string | null = null; ;) {
    const page: GoalRow[] = await db.query(listGoals, [null, after, 100]);
    for (const { id, state, published } of page) {
      if (published === null || state === 'retired') continue;
      goals.push({ id, title: published.title, not_ready: readiness(published) });
    }
    after = page.at(-1)?.id ?? null;
    if (after === null) return goals;
  }
}

function queueProblems(queue: DoctorReport['queues'][number]): string[] {
  const { oldest_due_seconds: lateness, expired } = queue;
  return [
    ...(lateness !== null && lateness > lateAfterSeconds
      ? [
          `the queue ${queue.queue} is ${Math.round(lateness)} s behind: is a worker running, is a limit reached?`,
        ]
      : []),
    ...(expired > 0
      ? [`${expired} leases of the queue ${queue.queue} have expired: a worker died or hangs`]
      : []),
  ];
}
