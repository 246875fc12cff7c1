import type { FastifyInstance } from 'fastify';
import { isId } from '@trunkcall/contract';
import type { Acceptance } from '../acceptance/acceptance.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Gate } from './auth.ts';
import { readBody } from './body.ts';
import { sendJson } from './exchange.ts';
import { readGoalRunRequest } from './goal-run-request.ts';
import { goalRunView } from '../publication/goal-run-view.ts';
import { idempotencyKey, requireJsonContent } from './headers.ts';
import { queryParameters } from './query.ts';
import { maxGoalRunBytes } from './settings.ts';

export interface CreateGoalRun {
  readonly gate: Gate;
  readonly acceptance: Acceptance;
  readonly pollAfterSeconds: number;
}

/**
 * POST /v1/goals/{goal_id}/runs. The order of the lines is the order of the checks: size, key, scope, rate, headers,
 * JSON and shape; then acceptance has the Goal, the Idempotency-Key, and what can change with time.
 */
export function createGoalRun(app: FastifyInstance, deps: CreateGoalRun): void {
  const retryAfter = String(deps.pollAfterSeconds);
  app.route<{ Params: { goalId: string } }>({
    method: 'POST',
    url: '/v1/goals/:goalId/runs',
    handler: async (request, reply) => {
      const { rawHeaders } = request.raw;
      const body = await readBody(request.raw, maxGoalRunBytes);
      const key = await deps.gate.admit(request, 'runs:write');
      queryParameters(request, []);
      const idempotencyKeyText = idempotencyKey(rawHeaders);
      requireJsonContent(rawHeaders);
      const { phone, variables } = readGoalRunRequest(body);
      const { goalId } = request.params;
      if (!isId('goal', goalId)) throw new Refusal('not_found', 'there is no such Goal');

      const { run, replayed } = await deps.acceptance.accept({
        accountId: key.accountId,
        regions: key.regions,
        goalId,
        idempotencyKey: idempotencyKeyText,
        phone,
        variables,
      });

      reply
        .header('location', `/v1/goals/${run.goal_id}/runs/${run.public_id}`)
        .header('retry-after', retryAfter);
      if (replayed) reply.header('idempotency-replayed', 'true');
      return sendJson(reply, 201, JSON.stringify(goalRunView(run)));
    },
  });
}
