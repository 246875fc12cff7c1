import type { FastifyRequest } from 'fastify';
import { isId, type CallEvent } from '@trunkcall/contract';
import { Refusal } from '../../platform/refusal.ts';
import { callEventView } from '../../publication/event-views.ts';
import type { CallRow } from '../../storage/call-views.ts';
import type { Queryable } from '../../storage/database.ts';
import { findEventPlace, listEvents } from '../../storage/events.ts';
import type { Cursors } from '../cursor.ts';
import { queryParameters, readLimit } from '../query.ts';

const defaultLimit = 50;

export interface EventPage {
  readonly object: 'list';
  readonly data: readonly CallEvent[];
  readonly next_cursor: string | null;
}

/**
 * A page of a call's trace, oldest first. The query takes `limit`, and `cursor`: the previous page's `next_cursor`,
 * or the id of the last event that the client has seen, which goes on even after a page that was the last one.
 *
 * Throws: Refusal `invalid_request`.
 */
export async function eventPage(
  db: Queryable,
  cursors: Cursors,
  call: CallRow,
  request: FastifyRequest,
): Promise<EventPage> {
  const query = queryParameters(request, ['cursor', 'limit']);
  const limit = readLimit(query.limit, defaultLimit);
  const after = query.cursor === undefined ? 0 : await placeOf(db, cursors, call, query.cursor);
  const rows = await db.query(listEvents, [call.id, after, limit + 1]);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return {
    object: 'list',
    data: shown.map((row) => callEventView(call, row)),
    next_cursor:
      last === undefined ? null : cursors.encode(endpointOf(call), call.account_id, String(last.seq)),
  };
}

async function placeOf(db: Queryable, cursors: Cursors, call: CallRow, cursor: string): Promise<number> {
  if (isId('evt', cursor)) return placeOfEvent(db, call, cursor);
  return Number(cursors.decode(endpointOf(call), call.account_id, cursor));
}

/** The place of an event in the call's trace. Throws: Refusal `invalid_request` when it is not there. */
export async function placeOfEvent(db: Queryable, call: CallRow, eventId: string): Promise<number> {
  const [event] = isId('evt', eventId) ? await db.query(findEventPlace, [call.id, eventId]) : [];
  if (event === undefined) throw new Refusal('invalid_request', 'there is no such event in this call');
  return event.seq;
}

const endpointOf = (call: CallRow): string => `events of ${call.id}`;
