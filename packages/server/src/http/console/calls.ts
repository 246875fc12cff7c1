/** Calls without a Goal in the console: call tasks and one-shot calls. */
import {
  callStatuses,
  formatId,
  type ConsoleCall,
  type ConsoleCallDetail,
  type OperatorCall,
} from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { recordChange } from '../../authoring/audit.ts';
import type { Session } from '../../authoring/sessions.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { CallRow } from '../../storage/call-views.ts';
import { listAccountCalls, type ConsoleCallRow } from '../../storage/console-calls.ts';
import type { Queryable } from '../../storage/database.ts';
import { callDetail, callView, getCall } from '../operator/calls.ts';
import { pageOf, readPage } from '../operator/page.ts';
import { queryParameters } from '../query.ts';
import { requireRight } from './access.ts';
import { readTime, refuseUnknown } from './filters.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';
import { deliveriesOf, urlShown } from './webhooks.ts';

interface OneCall {
  Params: { call: string };
}

const kinds: readonly OperatorCall['kind'][] = ['task', 'one_shot'];
const filters = ['kind', 'status', 'since', 'until', 'after', 'limit'] as const;

export function callRoutes(app: FastifyInstance, { db, ids, stopCall }: ConsoleDeps): void {
  app.get<{ Params: { account: string } }>('/accounts/:account/calls', async (request) => {
    const { account } = request.params;
    requireRight(visitorOf(request).session, account, 'account.read');
    const sent = queryParameters(request, filters);
    const page = readPage(sent, 'call');
    const { kind = null, status = null } = sent;
    refuseUnknown('kind', kind, kinds);
    refuseUnknown('status', status, callStatuses);
    const since = firstIdOf('since', sent.since);
    const until = firstIdOf('until', sent.until);
    // Ids sort as their times do, so the page begins behind whichever comes first.
    const after = [page.after, until].filter((id) => id !== null).sort()[0] ?? null;
    const rows = await db.query(listAccountCalls, [account, after, since, kind, status, page.rows]);
    return pageOf(page, rows.map(consoleCall));
  });

  app.get<OneCall>('/calls/:call', async (request): Promise<ConsoleCallDetail> => {
    const { session } = visitorOf(request);
    const call = await readCall(db, session, request.params.call, 'account.read');
    const { result_schema, recipient_result_schema, webhook_url } = call;
    return {
      ...(await callDetail(db, call)),
      result_schema,
      recipient_result_schema,
      webhook_url: webhook_url === null ? null : urlShown(session, call.account_id, webhook_url),
      deliveries: await deliveriesOf(db, session, call.id),
    };
  });

  app.post<OneCall>('/calls/:call/cancel', async (request, reply): Promise<OperatorCall> => {
    const { session } = visitorOf(request);
    const { id, account_id: accountId } = await readCall(db, session, request.params.call, 'run.cancel');
    const change = { by: session.person_id, accountId, action: 'call.cancel', objectId: id };
    const note = async (tx: Queryable): Promise<void> => {
      await recordChange(tx, ids, change);
    };
    if ((await stopCall(id, note)) === 'ended') {
      throw new Refusal('call_cannot_cancel', 'the call has already ended');
    }
    reply.code(202);
    return callView(await getCall(db, id));
  });
}

/** A call in an account where the person may do `action`. Throws: Refusal `not_found`, `forbidden`. */
async function readCall(
  db: Queryable,
  session: Session,
  id: string,
  action: 'account.read' | 'run.cancel',
): Promise<CallRow> {
  const call = await getCall(db, id);
  requireRight(session, call.account_id, action, 'call with this id');
  return call;
}

function consoleCall(row: ConsoleCallRow): ConsoleCall {
  const { shown_status: status, task_beginning: task, recipients } = row;
  return { ...callView(row), status, task, recipients };
}

function firstIdOf(name: string, text: string | undefined): string | null {
  const time = readTime(name, text);
  return time === null ? null : formatId('call', time, new Uint8Array(10));
}
