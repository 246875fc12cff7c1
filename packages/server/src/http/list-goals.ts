import type { FastifyInstance } from 'fastify';
import type { Goal, GoalFile } from '@trunkcall/contract';
import type { Database } from '../storage/database.ts';
import { listPublishedGoals } from '../storage/published-goals.ts';
import type { Gate } from './auth.ts';
import type { Cursors } from './cursor.ts';
import { sendJson } from './exchange.ts';
import { goalView } from './goal-view.ts';
import { queryParameters, readLimit } from './query.ts';

export interface ListGoals {
  readonly db: Database;
  readonly gate: Gate;
  readonly cursors: Cursors;
  readonly readiness: (content: GoalFile) => readonly string[];
}

const endpoint = 'goals';
const defaultLimit = 20;

/**
 * GET /v1/goals: the account's active, listed, published and ready Goals, in the order of their ids. The regions of
 * the key play no part: they say what it may run, not what it may see.
 */
export function listGoals(app: FastifyInstance, deps: ListGoals): void {
  app.route({
    method: 'GET',
    url: '/v1/goals',
    handler: async (request, reply) => {
      const { accountId } = await deps.gate.admit(request, 'goals:read');
      const query = queryParameters(request, ['limit', 'after']);
      const limit = readLimit(query.limit, defaultLimit);
      const after = query.after === undefined ? '' : deps.cursors.decode(endpoint, accountId, query.after);
      // One more than is shown tells whether there is a next page.
      const goals = await readyGoals(deps, accountId, after, limit + 1);
      const data = goals.slice(0, limit);
      const last = goals.length > limit ? data.at(-1) : undefined;
      const nextCursor = last === undefined ? null : deps.cursors.encode(endpoint, accountId, last.id);
      return sendJson(reply, 200, JSON.stringify({ object: 'list', data, next_cursor: nextCursor }));
    },
  });
}

/** Up to `count` ready Goals behind `after`; fewer only when there are no more. Reads `count` rows at a time. */
async function readyGoals(
  { db, readiness }: ListGoals,
  accountId: string,
  after: string,
  count: number,
): Promise<Goal[]> {
  const ready: Goal[] = [];
  for (;;) {
    const rows = await db.query(listPublishedGoals, [accountId, after, count]);
    for (const row of rows) {
      after = row.id;
      if (readiness(row.content).length > 0) continue;
      ready.push(goalView(row.id, row.run_spec_id, row.version, row.content));
      if (ready.length === count) return ready;
    }
    if (rows.length < count) return ready;
  }
}
