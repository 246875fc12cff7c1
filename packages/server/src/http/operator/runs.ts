import {
  directions,
  goalRunStatuses,
  isId,
  type OperatorRun,
  type OperatorRunDetail,
} from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { getAccount } from '../../authoring/accounts.ts';
import { recordOperatorChange } from '../../authoring/audit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Ids } from '../../platform/ids.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import {
  findRunDetail,
  listAttempts,
  listRuns,
  listRunsOfGoal,
  listTurns,
  type RunDetailRow,
} from '../../storage/run-views.ts';
import { listEvents } from '../../storage/events.ts';
import { listUsageOfRun } from '../../storage/usage.ts';
import { pageOf, readPage } from './page.ts';
import { createWatch } from './progress.ts';
import { queryParameters } from '../query.ts';
import { findRecording, sendRecording } from '../recording-file.ts';
import { runCost } from './usage-views.ts';
import { acceptedEvent, attemptView, eventView, runView, turnView } from './views.ts';

export interface RunRoutesDeps {
  readonly db: Database;
  readonly ids: Ids;
  readonly clock: Clock;
  /** The directory of the recordings that this machine has. */
  readonly recordings: string;
  readonly cancelRun: Stop;
}

/** A run has one event a turn, and turns are bounded. */
const maxEvents = 2_000;

/** Stops a Run or a call, given its id; `note` is called in the transaction that asks for it. */
export type Stop = (id: string, note: (tx: Queryable) => Promise<void>) => Promise<'stopping' | 'ended'>;

interface OneRun {
  /** A public id or a `run_id`. */
  Params: { run: string };
}

export function runRoutes(app: FastifyInstance, deps: RunRoutesDeps): void {
  const { db, ids, clock, recordings, cancelRun } = deps;
  app.get('/runs', async (request) => {
    const sent = queryParameters(request, ['goal', 'account', 'status', 'direction', 'after', 'limit']);
    const page = readPage(sent, 'grun');
    const { goal = null, account, status = null, direction = null } = sent;
    if (goal !== null && !isId('goal', goal)) {
      throw new Refusal('invalid_request', 'goal must be a Goal id');
    }
    if (status !== null && !goalRunStatuses.some((known) => known === status)) {
      throw new Refusal('invalid_request', `status must be one of: ${goalRunStatuses.join(', ')}`);
    }
    if (direction !== null && !directions.some((known) => known === direction)) {
      throw new Refusal('invalid_request', `direction must be one of: ${directions.join(', ')}`);
    }
    const accountId = account === undefined ? null : (await getAccount(db, account)).id;
    const values = [accountId, status, page.after, page.rows, direction];
    const rows =
      goal === null ? await db.query(listRuns, values) : await db.query(listRunsOfGoal, [...values, goal]);
    return pageOf(page, rows.map(runView));
  });

  app.get<OneRun>('/runs/:run', async (request) => detailView(db, await findRun(db, request.params.run)));

  app.get<OneRun>('/runs/:run/recording', async (request, reply) => {
    const { attempt_id: attempt } = await findRun(db, request.params.run);
    const file = await findRecording(recordings, attempt);
    if (file === null) throw new Refusal('not_found', 'this machine has no recording of the Run');
    return sendRecording(request, reply, file);
  });

  const watch = createWatch({ db, clock });
  app.addHook('preClose', async () => watch.close());
  app.get<OneRun>('/runs/:run/progress', async (request, reply) => {
    const gone = new AbortController();
    reply.raw.once('close', () => gone.abort());
    const { after, wait_seconds } = queryParameters(request, ['after', 'wait_seconds']);
    const { id } = await findRun(db, request.params.run);
    return watch.next(id, after, wait_seconds, gone.signal);
  });

  app.post<OneRun>('/runs/:run/cancel', async (request, reply): Promise<OperatorRun> => {
    const { id, public_id: objectId, account_id: accountId } = await findRun(db, request.params.run);
    const note = async (tx: Queryable): Promise<void> => {
      await recordOperatorChange(tx, ids, { accountId, action: 'run.cancel', objectId });
    };
    if ((await cancelRun(id, note)) === 'ended') {
      throw new Refusal('run_not_cancelable', 'the Run has already ended');
    }
    reply.code(202);
    return runView(await findRun(db, id));
  });
}

/** Finds a run by its public id or its `run_id`. Throws: Refusal `not_found`. */
export async function findRun(db: Queryable, id: string): Promise<RunDetailRow> {
  const [run] = isId('grun', id) || isId('run', id) ? await db.query(findRunDetail, [id]) : [];
  if (run === undefined) throw new Refusal('not_found', 'there is no Run with this id');
  return run;
}

export async function detailView(db: Queryable, run: RunDetailRow): Promise<OperatorRunDetail> {
  const attempts = await db.query(listAttempts, [run.id]);
  const turns = await db.query(listTurns, [run.id, 0, -1]);
  const events = await db.query(listEvents, [run.id, 0, maxEvents]);
  return {
    ...runView(run),
    variables: run.variables,
    attempts: attempts.map(attemptView),
    transcript: turns.map(turnView),
    events: [acceptedEvent(run), ...events.map(eventView)],
    evidence: run.evidence ?? {},
    cost: runCost(await db.query(listUsageOfRun, [run.id])),
  };
}
