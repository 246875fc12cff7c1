import { isId, type OperatorWorker, type WorkerSwitch } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { recordChange } from '../../authoring/audit.ts';
import type { Ids } from '../../platform/ids.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import { askToDrain, listWorkers, type WorkerRow } from '../../storage/workers.ts';
import { listOf, timeOrNull } from './views.ts';

interface OneWorker {
  Params: { worker: string };
}

export interface WorkerRoutesDeps {
  readonly db: Database;
  readonly ids: Ids;
  /** Told that a process is to drain, or that a test call waits: this one need not wait for its next beat. */
  readonly onWanted: () => void;
}

export function workerRoutes(app: FastifyInstance, { db, ids, onWanted }: WorkerRoutesDeps): void {
  app.get('/workers', async () => listOf((await db.query(listWorkers)).map(workerView)));

  for (const to of ['drain', 'resume'] as const) {
    app.post<OneWorker>(`/workers/:worker/${to}`, async ({ params }, reply) => {
      const worker = await db.transaction((tx) => switchWorker(tx, ids, params.worker, to, null));
      onWanted();
      reply.code(202);
      return workerView(worker);
    });
  }
}

/**
 * Asks a process to take no new calls, or to take them again, inside a transaction; `by` (null: the operator API) is
 * noted. Throws: Refusal `not_found`.
 */
export async function switchWorker(
  tx: Queryable,
  ids: Ids,
  id: string,
  to: WorkerSwitch,
  by: string | null,
): Promise<WorkerRow> {
  const [worker] = isId('wrk', id) ? await tx.query(askToDrain, [id, to === 'drain']) : [];
  if (worker === undefined) throw new Refusal('not_found', 'there is no process with this id');
  const change = { by, accountId: null, objectId: id, details: { host: worker.host } };
  const action = to === 'drain' ? 'worker.drained' : 'worker.resumed';
  await recordChange(tx, ids, { ...change, action });
  return worker;
}

export function workerView(row: WorkerRow): OperatorWorker {
  return {
    ...row,
    started_at: row.started_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    drain_requested_at: timeOrNull(row.drain_requested_at),
  };
}
