import type { FastifyInstance } from 'fastify';
import { isId } from '@trunkcall/contract';
import { Refusal } from '../platform/refusal.ts';
import type { Database } from '../storage/database.ts';
import { findListedGoal } from '../storage/published-goals.ts';
import type { Gate } from './auth.ts';
import { sendJson } from './exchange.ts';
import { goalView } from './goal-view.ts';
import { queryParameters } from './query.ts';

/**
 * GET /v1/goals/{goal_id}: the Goal with its current schemas, also while it is not ready: what it will take and give
 * is known all the same.
 */
export function getGoal(app: FastifyInstance, { db, gate }: { db: Database; gate: Gate }): void {
  app.route<{ Params: { goalId: string } }>({
    method: 'GET',
    url: '/v1/goals/:goalId',
    handler: async (request, reply) => {
      const { accountId } = await gate.admit(request, 'goals:read');
      queryParameters(request, []);
      const { goalId } = request.params;
      const [goal] = isId('goal', goalId) ? await db.query(findListedGoal, [goalId, accountId]) : [];
      if (goal === undefined) throw new Refusal('not_found', 'there is no such Goal');
      if (goal.run_spec_id === null || goal.version === null || goal.content === null) {
        throw new Refusal('goal_not_published', 'the Goal has no published RunSpec');
      }
      const view = goalView(goal.id, goal.run_spec_id, goal.version, goal.content);
      return sendJson(reply, 200, JSON.stringify(view));
    },
  });
}
