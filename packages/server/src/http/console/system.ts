/** The deployment itself, for those who run it: its health, its trunks with test calls, its processes. */
import type { FastifyInstance } from 'fastify';
import { recordChange } from '../../authoring/audit.ts';
import { requestTestCall } from '../../authoring/test-calls.ts';
import { readSystem } from '../operator/system.ts';
import { checkTestCall, readTrunks, testCallView } from '../operator/trunks.ts';
import { switchWorker, workerView } from '../operator/workers.ts';
import { readJson } from '../operator/sent.ts';
import { listOf } from '../operator/views.ts';
import { listWorkers } from '../../storage/workers.ts';
import { requireOperator } from './access.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';

export function systemRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const { db, ids, facts, onWanted } = deps;
  const { book } = facts;

  app.get('/system', async (request) => {
    requireOperator(visitorOf(request).session);
    return readSystem(deps);
  });

  app.get('/trunks', async (request) => {
    requireOperator(visitorOf(request).session);
    return listOf(await readTrunks(db, book, await db.query(listWorkers)));
  });

  app.post<{ Params: { trunk: string } }>('/trunks/:trunk/test-calls', async (request, reply) => {
    const { session } = visitorOf(request);
    requireOperator(session);
    const { phone } = await readJson(request, checkTestCall);
    const { trunk } = request.params;
    const call = await db.transaction(async (tx) => {
      const made = await requestTestCall(tx, ids, book, trunk, phone);
      const change = { by: session.person_id, accountId: null, objectId: made.id };
      await recordChange(tx, ids, { ...change, action: 'trunk.tested', details: { trunk } });
      return made;
    });
    onWanted();
    reply.code(202);
    return testCallView(call);
  });

  for (const to of ['drain', 'resume'] as const) {
    app.post<{ Params: { worker: string } }>(`/workers/:worker/${to}`, async (request, reply) => {
      const { session } = visitorOf(request);
      requireOperator(session);
      const worker = await db.transaction((tx) =>
        switchWorker(tx, ids, request.params.worker, to, session.person_id),
      );
      onWanted();
      reply.code(202);
      return workerView(worker);
    });
  }
}
