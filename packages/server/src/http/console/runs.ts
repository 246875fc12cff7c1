import {
  directions,
  formatId,
  goalRunErrors,
  goalRunStatuses,
  isId,
  type ConsoleRun,
  type ConsoleRunDetail,
} from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { recordChange } from '../../authoring/audit.ts';
import { Refusal } from '../../platform/refusal.ts';
import { listAccountRuns, listAccountRunsOfGoal, type ConsoleRunRow } from '../../storage/console-views.ts';
import type { Queryable } from '../../storage/database.ts';
import { pageOf, readPage } from '../operator/page.ts';
import { detailView, findRun } from '../operator/runs.ts';
import { runView } from '../operator/views.ts';
import { queryParameters } from '../query.ts';
import { findRecording, secondsOf } from '../recording-file.ts';
import { requireRight } from './access.ts';
import { readTime, refuseUnknown } from './filters.ts';
import { listeningOf } from './listen.ts';
import { readRun } from './read-run.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';
import { deliveriesOf } from './webhooks.ts';

interface OneRun {
  /** The public id. */
  Params: { run: string };
}

const filters = [
  'goal',
  'status',
  'error',
  'digits',
  'direction',
  'since',
  'until',
  'after',
  'limit',
] as const;

export function runRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const { db, ids, recordings, cancelRun } = deps;
  app.get<{ Params: { account: string } }>('/accounts/:account/runs', async (request) => {
    const { account } = request.params;
    requireRight(visitorOf(request).session, account, 'account.read');
    const sent = queryParameters(request, filters);
    const page = readPage(sent, 'grun');
    const { goal, status = null, error = null, digits = null, direction = null } = sent;
    refuseUnknown('status', status, goalRunStatuses);
    refuseUnknown('error', error, Object.keys(goalRunErrors));
    refuseUnknown('direction', direction, directions);
    if (goal !== undefined && !isId('goal', goal))
      throw new Refusal('invalid_request', 'goal must be a Goal id');
    // More would be a phone number in an URL.
    if (digits !== null && !/^\d{2,4}$/.test(digits)) {
      throw new Refusal('invalid_request', 'digits must be 2 to 4 digits');
    }
    const since = firstIdOf('since', sent.since);
    const until = firstIdOf('until', sent.until);
    // Ids sort as their times do, so the page begins behind whichever comes first.
    const after = [page.after, until].filter((id) => id !== null).sort()[0] ?? null;
    const values = [account, after, since, status, error, digits, page.rows, direction];
    const rows =
      goal === undefined
        ? await db.query(listAccountRuns, values)
        : await db.query(listAccountRunsOfGoal, [...values, goal]);
    return pageOf(page, rows.map(consoleRun));
  });

  app.get<OneRun>('/runs/:run', async (request): Promise<ConsoleRunDetail> => {
    const { session } = visitorOf(request);
    const { id, content } = await readRun(db, session, request.params.run, 'account.read');
    const { title, result_schema, input_schema } = content;
    const run = await findRun(db, id);
    // One that still grows is not to be heard yet.
    const file = run.completed_at === null ? null : await findRecording(recordings, run.attempt_id);
    const recording = file === null ? null : { seconds: secondsOf(file) };
    const { listening } = await listeningOf(deps, { id, content });
    const deliveries = await deliveriesOf(db, session, request.params.run);
    const shown = { title, result_schema, input_schema, recording, listening, deliveries };
    return { ...(await detailView(db, run)), ...shown };
  });

  app.post<OneRun>('/runs/:run/cancel', async (request, reply) => {
    const { session } = visitorOf(request);
    const { id, account_id: accountId } = await readRun(db, session, request.params.run, 'run.cancel');
    const change = { by: session.person_id, accountId, objectId: request.params.run };
    const note = async (tx: Queryable): Promise<void> => {
      await recordChange(tx, ids, { ...change, action: 'run.cancel' });
    };
    if ((await cancelRun(id, note)) === 'ended') {
      throw new Refusal('run_not_cancelable', 'the Run has already ended');
    }
    reply.code(202);
    return runView(await findRun(db, id));
  });
}

const consoleRun = (row: ConsoleRunRow): ConsoleRun => ({ ...runView(row), title: row.title });

/** The least public id of a time; null without one. Throws: Refusal `invalid_request`. */
function firstIdOf(name: string, text: string | undefined): string | null {
  const time = readTime(name, text);
  return time === null ? null : formatId('grun', time, new Uint8Array(10));
}
