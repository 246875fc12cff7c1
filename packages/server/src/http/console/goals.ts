import {
  goalActions,
  isId,
  type ConsoleGoal,
  type ConsoleGoalDetail,
  type GoalFileProblem,
  type PublicationPreview,
  type SavedDraft,
} from '@trunkcall/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { stringify } from 'yaml';
import { getAccount } from '../../authoring/accounts.ts';
import { recordChange, recordOngoing } from '../../authoring/audit.ts';
import { goalChanges } from '../../authoring/goal-difference.ts';
import { maxGoalFileBytes, parseGoalFile } from '../../authoring/goal-file.ts';
import {
  applyGoal,
  commandGoal,
  publicationProblems,
  publishGoal,
  saveDraft,
} from '../../authoring/goals.ts';
import type { Readiness } from '../../authoring/readiness.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { Queryable } from '../../storage/database.ts';
import { findGoal, findVersion, listGoals, listVersions, type GoalRow } from '../../storage/goals.ts';
import { parseJsonBody, readBody } from '../body.ts';
import { headerValues, requireJsonContent } from '../headers.ts';
import { goalTestAnswers } from '../goal-test.ts';
import { goalView, newestDraft } from '../operator/goals.ts';
import { pageOf, readPage } from '../operator/page.ts';
import { readGoalFile } from '../operator/sent.ts';
import { queryParameters } from '../query.ts';
import { requireRight } from './access.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';

/** Saves of one author stand for one change in the audit log for so long. */
const sittingMs = 10 * 60_000;

interface OfAccount {
  Params: { account: string };
}
interface OneGoal {
  Params: { goal: string };
}

export function goalRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const { db, ids, clock, readiness } = deps;
  const view = (row: GoalRow) => consoleGoal(row, readiness);

  app.get<OfAccount>('/accounts/:account/goals', async (request) => {
    const { account } = request.params;
    requireRight(visitorOf(request).session, account, 'account.read');
    const page = readPage(queryParameters(request, ['after', 'limit']), 'goal');
    return pageOf(page, (await db.query(listGoals, [account, page.after, page.rows])).map(view));
  });

  app.post<OfAccount>('/accounts/:account/goals', async (request, reply) => {
    const { session } = visitorOf(request);
    const { account: accountId } = request.params;
    requireRight(session, accountId, 'goal.write');
    const text = await readGoalFile(request);
    const id = await db.transaction(async (tx) => {
      const goalId = await applyGoal(tx, ids, { accountId, goalId: null, text });
      const change = { by: session.person_id, accountId, objectId: goalId };
      await recordChange(tx, ids, { ...change, action: 'goal.created' });
      return goalId;
    });
    reply.code(201);
    return view(await readGoal(db, id));
  });

  app.get<OneGoal>('/goals/:goal', async (request): Promise<ConsoleGoalDetail> => {
    const row = await readGoal(db, request.params.goal);
    requireRight(visitorOf(request).session, row.account_id, 'account.read', 'Goal');
    const versions = await db.query(listVersions, [row.id]);
    return {
      ...view(row),
      versions: versions.map(({ published_at, ...rest }) => ({
        ...rest,
        published_at: published_at.toISOString(),
      })),
      draft: newestDraft(row),
      revision: row.draft_revision,
      problems: problemsOf(row),
    };
  });

  app.put<OneGoal>('/goals/:goal/draft', async (request): Promise<SavedDraft> => {
    const { session } = visitorOf(request);
    const { id: goalId, account_id: accountId } = await readGoal(db, request.params.goal);
    requireRight(session, accountId, 'goal.write', 'Goal');
    const revision = sentRevision(request);
    const body = await readBody(request.raw, maxGoalFileBytes);
    requireJsonContent(request.raw.rawHeaders);
    const draft = parseJsonBody(body);
    if (typeof draft !== 'object' || draft === null || Array.isArray(draft)) {
      throw new Refusal('invalid_request', 'a draft is an object');
    }
    const text = JSON.stringify(draft);
    return db.transaction(async (tx) => {
      const saved = await saveDraft(tx, { goalId, revision, text });
      const change = { by: session.person_id, accountId, objectId: goalId };
      const action = 'goal.draft_saved';
      const details = { revision: saved.revision };
      await recordOngoing(tx, ids, { ...change, action, details }, clock.now() - sittingMs);
      return saved;
    });
  });

  /** Checks a draft with the code that publishes it, and keeps nothing. */
  app.post('/goals/check', async (request): Promise<{ problems: readonly GoalFileProblem[] }> => {
    const parsed = parseGoalFile(await readGoalFile(request));
    return { problems: parsed.ok ? [] : parsed.problems };
  });

  /** Tests the newest draft. Changes nothing, but a provider behind the agent may cost money: for authors. */
  const answerTest = goalTestAnswers(app, deps);
  app.post<OneGoal>('/goals/:goal/test', async (request, reply) => {
    const row = await readGoal(db, request.params.goal);
    const { session } = visitorOf(request);
    requireRight(session, row.account_id, 'goal.write', 'Goal');
    const { name: callerName } = await getAccount(db, row.account_id);
    const text = JSON.stringify(newestDraft(row));
    return answerTest(request, reply, { text, callerName, by: session.person_id });
  });

  app.get<OneGoal>('/goals/:goal/publication', async (request): Promise<PublicationPreview> => {
    const row = await readGoal(db, request.params.goal);
    requireRight(visitorOf(request).session, row.account_id, 'account.read', 'Goal');
    return preview(db, row, readiness);
  });

  app.post<OneGoal>('/goals/:goal/publish', async (request) => {
    const { session } = visitorOf(request);
    const { id: goalId, account_id: accountId } = await readGoal(db, request.params.goal);
    requireRight(session, accountId, 'goal.publish', 'Goal');
    const revision = sentRevision(request);
    await db.transaction(async (tx) => {
      const version = await publishGoal(tx, ids, goalId, revision);
      const change = { by: session.person_id, accountId, objectId: goalId };
      await recordChange(tx, ids, { ...change, action: 'goal.publish', details: { version } });
    });
    return view(await readGoal(db, goalId));
  });

  for (const action of goalActions) {
    if (action === 'publish') continue;
    app.post<OneGoal>(`/goals/:goal/${action}`, async (request) => {
      const { session } = visitorOf(request);
      const { id: goalId, account_id: accountId } = await readGoal(db, request.params.goal);
      requireRight(session, accountId, action === 'retire' ? 'goal.retire' : 'goal.command', 'Goal');
      await db.transaction(async (tx) => {
        await commandGoal(tx, goalId, action);
        const change = { by: session.person_id, accountId, objectId: goalId };
        await recordChange(tx, ids, { ...change, action: `goal.${action}` });
      });
      return view(await readGoal(db, goalId));
    });
  }

  /** The newest draft, or a published version, as the file that the CLI applies. */
  app.get<OneGoal>('/goals/:goal/file', async (request, reply) => {
    const { version } = queryParameters(request, ['version']);
    const row = await readGoal(db, request.params.goal);
    requireRight(visitorOf(request).session, row.account_id, 'account.read', 'Goal');
    const content = version === undefined ? newestDraft(row) : await readVersion(db, row.id, version);
    reply.header('content-type', 'application/yaml; charset=utf-8');
    reply.header('content-disposition', `attachment; filename="${row.id}.yaml"`);
    return reply.send(stringify(content, { lineWidth: 100 }));
  });

  app.get<OneGoal & { Params: { version: string } }>('/goals/:goal/versions/:version', async (request) => {
    const row = await readGoal(db, request.params.goal);
    requireRight(visitorOf(request).session, row.account_id, 'account.read', 'Goal');
    return readVersion(db, row.id, request.params.version);
  });
}

export async function readGoal(db: Queryable, goalId: string): Promise<GoalRow> {
  const [row] = isId('goal', goalId) ? await db.query(findGoal, [goalId]) : [];
  if (row === undefined) throw new Refusal('not_found', 'there is no such Goal');
  return row;
}

async function readVersion(db: Queryable, goalId: string, version: string) {
  const [row] = /^[1-9]\d{0,8}$/.test(version) ? await db.query(findVersion, [goalId, Number(version)]) : [];
  if (row === undefined) throw new Refusal('not_found', 'there is no such version');
  return row.content;
}

/** The revision that the author saw, from `If-Match`. Throws: Refusal `invalid_request`. */
function sentRevision(request: FastifyRequest): number {
  const [sent, second] = headerValues(request.raw.rawHeaders, 'if-match');
  const revision = second === undefined ? /^"(\d{1,9})"$/.exec(sent ?? '')?.[1] : undefined;
  if (revision === undefined) {
    throw new Refusal('invalid_request', 'the If-Match header must be the revision of the draft, in quotes');
  }
  return Number(revision);
}

const problemsOf = (row: GoalRow): readonly GoalFileProblem[] => {
  const parsed = parseGoalFile(JSON.stringify(newestDraft(row)));
  return parsed.ok ? [] : parsed.problems;
};

function consoleGoal(row: GoalRow, readiness: Readiness): ConsoleGoal {
  const changed = row.unfinished !== null || JSON.stringify(row.draft) !== JSON.stringify(row.published);
  return { ...goalView(row, readiness), changed };
}

async function preview(db: Queryable, row: GoalRow, readiness: Readiness): Promise<PublicationPreview> {
  const { draft, published } = row;
  const problems = await publicationProblems(db, row.id, row);
  const valid = problems.length === 0;
  return {
    revision: row.draft_revision,
    problems,
    not_ready: valid ? readiness(draft) : [],
    next_version: row.latest_version + 1,
    published,
    draft: newestDraft(row),
    changes: valid && published !== null ? goalChanges(published, draft) : null,
  };
}
