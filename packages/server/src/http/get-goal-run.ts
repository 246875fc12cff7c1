import type { FastifyInstance } from 'fastify';
import { isId } from '@trunkcall/contract';
import { Refusal } from '../platform/refusal.ts';
import type { FindRun } from '../storage/runs.ts';
import type { Gate } from './auth.ts';
import { sendJson } from './exchange.ts';
import { goalRunView, isFinished } from '../publication/goal-run-view.ts';
import { queryParameters } from './query.ts';

export interface GetGoalRun {
  readonly gate: Gate;
  readonly findRun: FindRun;
  readonly pollAfterSeconds: number;
}

/** GET /v1/goals/{goal_id}/runs/{goal_run_id}: a pure read (I7). */
export function getGoalRun(app: FastifyInstance, deps: GetGoalRun): void {
  const retryAfter = String(deps.pollAfterSeconds);
  app.route<{ Params: { goalId: string; runId: string } }>({
    method: 'GET',
    url: '/v1/goals/:goalId/runs/:runId',
    handler: async (request, reply) => {
      const { accountId } = await deps.gate.admit(request, 'runs:read');
      queryParameters(request, []);
      const { goalId, runId } = request.params;
      const known = isId('goal', goalId) && isId('grun', runId);
      const run = known ? await deps.findRun(runId, goalId, accountId) : null;
      if (run === null) throw new Refusal('not_found', 'there is no such Goal Run');
      if (!isFinished(run)) reply.header('retry-after', retryAfter);
      return sendJson(reply, 200, JSON.stringify(goalRunView(run)));
    },
  });
}
