/** Call tasks and one-shot calls as the operator sees them. */
import type { CallTask, OneShotCall, OperatorCall, OperatorCallDetail } from '@trunkcall/contract';
import { isId } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { getAccount } from '../../authoring/accounts.ts';
import { recordOperatorChange } from '../../authoring/audit.ts';
import type { Ids } from '../../platform/ids.ts';
import { Refusal } from '../../platform/refusal.ts';
import { renderCall } from '../../publication/call-views.ts';
import { findCall, listCalls, listCallsOfAccount, type CallRow } from '../../storage/call-views.ts';
import type { Database, Queryable } from '../../storage/database.ts';
import { listEvents } from '../../storage/events.ts';
import { queryParameters } from '../query.ts';
import { pageOf, readPage } from './page.ts';
import type { Stop } from './runs.ts';
import { eventView, maskPhone, timeOrNull } from './views.ts';

export interface CallRoutesDeps {
  readonly db: Database;
  readonly ids: Ids;
  readonly stopCall: Stop;
}

interface OneCall {
  Params: { call: string };
}

/** A call has one event a turn, and turns are bounded; this many are shown. */
const maxEvents = 5_000;

export function operatorCallRoutes(app: FastifyInstance, { db, ids, stopCall }: CallRoutesDeps): void {
  app.get('/calls', async (request) => {
    const sent = queryParameters(request, ['account', 'after', 'limit']);
    const page = readPage(sent, 'call');
    const accountId = sent.account === undefined ? null : (await getAccount(db, sent.account)).id;
    const place = [page.after, page.rows];
    const rows =
      accountId === null
        ? await db.query(listCalls, place)
        : await db.query(listCallsOfAccount, [...place, accountId]);
    return pageOf(page, rows.map(callView));
  });

  app.get<OneCall>('/calls/:call', async (request): Promise<OperatorCallDetail> => {
    return callDetail(db, await getCall(db, request.params.call));
  });

  app.post<OneCall>('/calls/:call/cancel', async (request, reply): Promise<OperatorCall> => {
    const { id, account_id: accountId } = await getCall(db, request.params.call);
    const note = async (tx: Queryable): Promise<void> => {
      await recordOperatorChange(tx, ids, { accountId, action: 'call.cancel', objectId: id });
    };
    if ((await stopCall(id, note)) === 'ended') {
      throw new Refusal('call_cannot_cancel', 'the call has already ended');
    }
    reply.code(202);
    return callView(await getCall(db, id));
  });
}

/** Throws: Refusal `not_found`. */
export async function getCall(db: Queryable, id: string): Promise<CallRow> {
  const [call] = isId('call', id) ? await db.query(findCall, [id]) : [];
  if (call === undefined) throw new Refusal('not_found', 'there is no call with this id');
  return call;
}

export async function callDetail(db: Queryable, call: CallRow): Promise<OperatorCallDetail> {
  const view = masked(await renderCall(db, call));
  const events = await db.query(listEvents, [call.id, 0, maxEvents]);
  return { ...callView(call), view, events: events.map(eventView) };
}

export function callView(row: CallRow): OperatorCall {
  return {
    id: row.id,
    account_id: row.account_id,
    kind: row.kind,
    status: row.status,
    error_code: row.error_code,
    summary: row.summary,
    cancel_requested_at: timeOrNull(row.cancel_requested_at),
    created_at: row.created_at.toISOString(),
    completed_at: timeOrNull(row.completed_at),
  };
}

function masked(view: CallTask | OneShotCall): CallTask | OneShotCall {
  if (view.object === 'call') return { ...view, phone: maskPhone(view.phone) };
  const recipients = view.recipients.map((recipient) => ({
    ...recipient,
    phones: recipient.phones.map(maskPhone),
    attempts: recipient.attempts.map((attempt) => ({ ...attempt, phone: maskPhone(attempt.phone) })),
  }));
  return { ...view, recipients };
}
