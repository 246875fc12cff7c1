import {
  isId,
  TestCallRequest,
  type OperatorTestCall,
  type OperatorTrunk,
  type TrunkReport,
} from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { recordOperatorChange } from '../../authoring/audit.ts';
import { requestTestCall, type TrunkBook, type TrunkEntry } from '../../authoring/test-calls.ts';
import type { Ids } from '../../platform/ids.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import { readLinesInUse, readUsageToday } from '../../storage/system-views.ts';
import { findTestCall, listLastTestCalls, type TestCallRow } from '../../storage/test-calls.ts';
import { trunkScope } from '../../storage/trunk-slots.ts';
import { listWorkers, type WorkerRow } from '../../storage/workers.ts';
import { checker, readJson } from './sent.ts';
import { listOf, maskPhone, timeOrNull } from './views.ts';

export interface TrunkRoutesDeps {
  readonly db: Database;
  readonly ids: Ids;
  readonly book: TrunkBook;
  /** As for workers. */
  readonly onWanted: () => void;
}

export const checkTestCall = checker(TestCallRequest);

export function trunkRoutes(app: FastifyInstance, { db, ids, book, onWanted }: TrunkRoutesDeps): void {
  app.get('/trunks', async () => listOf(await readTrunks(db, book, await db.query(listWorkers))));

  app.post<{ Params: { trunk: string } }>('/trunks/:trunk/test_calls', async (request, reply) => {
    const { phone } = await readJson(request, checkTestCall);
    const { trunk } = request.params;
    const call = await db.transaction(async (tx) => {
      const made = await requestTestCall(tx, ids, book, trunk, phone);
      const change = { accountId: null, objectId: made.id, action: 'trunk.tested', details: { trunk } };
      await recordOperatorChange(tx, ids, change);
      return made;
    });
    onWanted();
    reply.code(202);
    return testCallView(call);
  });

  app.get<{ Params: { call: string } }>('/test_calls/:call', async ({ params }) =>
    testCallView(await getTestCall(db, params.call)),
  );
}

/** Throws: Refusal `not_found`. */
async function getTestCall(db: Queryable, id: string): Promise<TestCallRow> {
  const [call] = isId('tcall', id) ? await db.query(findTestCall, [id]) : [];
  if (call === undefined) throw new Refusal('not_found', 'there is no test call with this id');
  return call;
}

/** The trunks of the settings, with what the processes say of them. */
export async function readTrunks(
  db: Queryable,
  { trunks }: TrunkBook,
  workers: readonly WorkerRow[],
): Promise<OperatorTrunk[]> {
  const names = trunks.map(({ name }) => name);
  const lines = new Map((await db.query(readLinesInUse, [names])).map((row) => [row.trunk, row.lines]));
  const usage = new Map(
    (await db.query(readUsageToday, [names.map(trunkScope)])).map((row) => [row.scope, row]),
  );
  const tests = new Map((await db.query(listLastTestCalls, [names])).map((row) => [row.trunk, row]));
  return trunks.map((entry) => {
    const reports = reportsOf(entry, workers);
    const today = usage.get(trunkScope(entry.name));
    const test = tests.get(entry.name);
    return {
      ...entry,
      ...summaryOf(reports),
      lines_in_use: lines.get(entry.name) ?? reports.reduce((sum, { calls }) => sum + calls, 0),
      calls_today: today?.calls ?? 0,
      spend_today_micros: today?.spend ?? 0,
      last_failure: newestFailure(reports),
      workers: reports,
      last_test: test === undefined ? null : testCallView(test),
    };
  });
}

type Reports = OperatorTrunk['workers'];

/** Of the processes that are alive. */
function reportsOf({ name }: TrunkEntry, workers: readonly WorkerRow[]): Reports {
  return workers
    .filter(({ alive }) => alive)
    .flatMap(({ id, host, trunks }) =>
      trunks.flatMap((report) => (report.trunk === name ? [{ ...report, worker_id: id, host }] : [])),
    );
}

function summaryOf(reports: Reports): Pick<OperatorTrunk, 'state' | 'since' | 'why'> {
  if (reports.length === 0)
    return { state: 'unknown', since: null, why: 'no worker that is alive has this trunk' };
  const inState = (...states: TrunkReport['state'][]) =>
    reports.filter(({ state }) => states.includes(state)).toSorted((a, b) => a.since.localeCompare(b.since));
  const up = inState('up');
  const bad = [...inState('down'), ...inState('resting')];
  // A process that has only just begun does not know yet; that is no bad news.
  const [shown] = [...bad, ...up, ...inState('unknown')];
  const { state = 'unknown', since = null, why = null } = shown ?? {};
  return { state: bad.length > 0 && up.length > 0 ? 'partly_up' : state, since, why };
}

function newestFailure(reports: Reports): TrunkReport['last_failure'] {
  const failures = reports.flatMap(({ last_failure: failure }) => (failure === null ? [] : [failure]));
  return failures.toSorted((a, b) => b.at.localeCompare(a.at))[0] ?? null;
}

export function testCallView({ worker, ...row }: TestCallRow): OperatorTestCall {
  return {
    ...row,
    phone: maskPhone(row.phone),
    worker_id: worker,
    created_at: row.created_at.toISOString(),
    ended_at: timeOrNull(row.ended_at),
  };
}
