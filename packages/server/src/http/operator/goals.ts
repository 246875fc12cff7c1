import { goalActions, isId, type OperatorGoal, type OperatorGoalDetail } from '@trunkcall/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { getAccount } from '../../authoring/accounts.ts';
import { recordOperatorChange } from '../../authoring/audit.ts';
import { parseGoalFile } from '../../authoring/goal-file.ts';
import { applyGoal, commandGoal, publishGoal } from '../../authoring/goals.ts';
import type { Readiness } from '../../authoring/readiness.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Ids } from '../../platform/ids.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { Database } from '../../storage/database.ts';
import { findGoal, listGoals, listVersions, type GoalRow } from '../../storage/goals.ts';
import type { GoalTester } from '../../rehearsal/test-goal.ts';
import { goalTestAnswers } from '../goal-test.ts';
import { queryParameters } from '../query.ts';
import { sentToken } from './auth.ts';
import { pageOf, readPage } from './page.ts';
import { readGoalFile } from './sent.ts';

export interface GoalRoutesDeps {
  readonly db: Database;
  readonly ids: Ids;
  readonly readiness: Readiness;
  readonly goalTester: GoalTester;
  readonly clock: Clock;
}

interface OneGoal {
  Params: { goal: string };
}

export function goalRoutes(app: FastifyInstance, deps: GoalRoutesDeps): void {
  const { db, ids, readiness } = deps;
  const view = (row: GoalRow) => goalView(row, readiness);

  async function find(goalId: string): Promise<GoalRow> {
    const [row] = isId('goal', goalId) ? await db.query(findGoal, [goalId]) : [];
    if (row === undefined) throw new Refusal('not_found', 'there is no Goal with this id');
    return row;
  }

  async function apply(request: FastifyRequest, goalId: string | null): Promise<OperatorGoal> {
    const text = await readGoalFile(request);
    const { account } = queryParameters(request, ['account']);
    if (account === undefined) throw new Refusal('invalid_request', 'the query parameter account is missing');
    const { id: accountId } = await getAccount(db, account);
    const action = goalId === null ? 'goal.created' : 'goal.draft_saved';
    const id = await db.transaction(async (tx) => {
      const objectId = await applyGoal(tx, ids, { accountId, goalId, text });
      await recordOperatorChange(tx, ids, { accountId, action, objectId });
      return objectId;
    });
    return view(await find(id));
  }

  app.post('/goals', async (request, reply) => {
    const goal = await apply(request, null);
    reply.code(201);
    return goal;
  });

  app.put<OneGoal>('/goals/:goal/draft', (request) => apply(request, request.params.goal));

  app.post('/goals/validate', async (request) => {
    const parsed = parseGoalFile(await readGoalFile(request));
    return parsed.ok
      ? { problems: [], not_ready: readiness(parsed.file) }
      : { problems: parsed.problems, not_ready: [] };
  });

  const answerTest = goalTestAnswers(app, deps);
  app.post('/goals/test', async (request, reply) =>
    answerTest(request, reply, {
      text: await readGoalFile(request),
      callerName: nobodysName,
      by: sentToken(request),
    }),
  );

  app.post<OneGoal>('/goals/:goal/test', async (request, reply) => {
    const row = await find(request.params.goal);
    const { name: callerName } = await getAccount(db, row.account_id);
    const text = JSON.stringify(newestDraft(row));
    return answerTest(request, reply, { text, callerName, by: sentToken(request) });
  });

  app.get('/goals', async (request) => {
    const sent = queryParameters(request, ['account', 'after', 'limit']);
    const page = readPage(sent, 'goal');
    const accountId = sent.account === undefined ? null : (await getAccount(db, sent.account)).id;
    const rows = await db.query(listGoals, [accountId, page.after, page.rows]);
    return pageOf(page, rows.map(view));
  });

  app.get<OneGoal>('/goals/:goal', async (request): Promise<OperatorGoalDetail> => {
    const row = await find(request.params.goal);
    const versions = await db.query(listVersions, [row.id]);
    return {
      ...view(row),
      versions: versions.map(({ id, version, published_at, runs }) => ({
        id,
        version,
        published_at: published_at.toISOString(),
        runs,
      })),
      draft: row.draft,
    };
  });

  for (const action of goalActions) {
    app.post<OneGoal>(`/goals/:goal/${action}`, async (request) => {
      const { id: goalId, account_id: accountId } = await find(request.params.goal);
      const change = { accountId, action: `goal.${action}`, objectId: goalId };
      await db.transaction(async (tx) => {
        if (action !== 'publish') {
          await commandGoal(tx, goalId, action);
          return recordOperatorChange(tx, ids, change);
        }
        const version = await publishGoal(tx, ids, goalId);
        return recordOperatorChange(tx, ids, { ...change, details: { version } });
      });
      return view(await find(goalId));
    });
  }
}

/** A file that nobody has taken in is tested in this name. */
const nobodysName = 'Trunkcall';

/** What the author wrote last, valid or not. */
export const newestDraft = ({ unfinished, draft }: GoalRow): unknown => unfinished ?? draft;

export function goalView(row: GoalRow, readiness: Readiness): OperatorGoal {
  const { published_run_spec_id: id, published_version: version } = row;
  return {
    id: row.id,
    account_id: row.account_id,
    title: row.draft.title,
    state: row.state,
    listed: row.listed,
    published_run_spec: id === null || version === null ? null : { id, version },
    latest_version: row.latest_version,
    not_ready: readiness(row.published ?? row.draft),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
