/**
 * The trace of a call as server-sent events (WHATWG HTML §9.2): each event once, in order, until the call is final and
 * told to its end. A client that was cut off goes on with `Last-Event-ID`.
 */
import type { ServerResponse } from 'node:http';
import type { CallEvent } from '@trunkcall/contract';
import type { Clock } from '../../platform/clock.ts';
import { Refusal } from '../../platform/refusal.ts';
import { callEventView } from '../../publication/event-views.ts';
import { findCall, type CallRow } from '../../storage/call-views.ts';
import { DatabaseUnavailable, type Database } from '../../storage/database.ts';
import { listEvents } from '../../storage/events.ts';

export interface EventStreams {
  /**
   * Streams until there is nothing more to tell, the client leaves or loses its right, ten minutes have passed, or the
   * database is away. Throws: Refusal `rate_limit_exceeded` before anything is sent.
   */
  stream(order: StreamOrder): Promise<void>;
  /** Ends all streams. */
  close(): void;
}

export interface StreamOrder {
  readonly call: CallRow;
  /** The place in the trace behind which to begin. */
  readonly after: number;
  /** Asked for the response once it is sure that there is room. */
  readonly begin: () => ServerResponse;
  /** Asked every few seconds; rejects when the client may read no more. */
  readonly mayGoOn: () => Promise<unknown>;
}

const maxStreams = 500;
const maxStreamsOfAccount = 100;
const pauseMs = 500;
const recheckMs = 4_000;
const heartbeatMs = 15_000;
const longestMs = 10 * 60_000;
const pageSize = 100;

export function createEventStreams({
  db,
  clock,
}: {
  readonly db: Database;
  readonly clock: Clock;
}): EventStreams {
  const closing = new AbortController();
  let open = 0;
  const openOf = new Map<string, number>();

  async function tell(order: StreamOrder, response: ServerResponse, gone: AbortSignal): Promise<void> {
    const { call, mayGoOn } = order;
    const beganAt = clock.monotonic();
    let heardAt = beganAt;
    let checkedAt = beganAt;
    let place = order.after;
    while (!gone.aborted && clock.monotonic() - beganAt < longestMs) {
      // The call first: what made it final was committed with its last events, so these are in what is read next.
      const [current] = await db.query(findCall, [call.id]);
      const rows = await db.query(listEvents, [call.id, place, pageSize]);
      for (const row of rows) response.write(frame(callEventView(call, row)));
      place = rows.at(-1)?.seq ?? place;
      if (rows.length === pageSize) {
        await drained(response, gone);
        continue;
      }
      if (current === undefined || isFinal(current)) return;
      if (rows.length > 0) heardAt = clock.monotonic();
      if (clock.monotonic() - heardAt >= heartbeatMs) {
        response.write(': still here\n\n');
        heardAt = clock.monotonic();
      }
      if (clock.monotonic() - checkedAt >= recheckMs) {
        await mayGoOn();
        checkedAt = clock.monotonic();
      }
      await clock.sleep(pauseMs, gone);
    }
  }

  /** Takes a place for the account; ends with what gives it back. */
  function enter(accountId: string): () => void {
    const own = openOf.get(accountId) ?? 0;
    if (open >= maxStreams || own >= maxStreamsOfAccount) {
      throw new Refusal('rate_limit_exceeded', 'too many streams are open already', {
        headers: { 'retry-after': '5' },
      });
    }
    open += 1;
    openOf.set(accountId, own + 1);
    return () => {
      open -= 1;
      const left = (openOf.get(accountId) ?? 1) - 1;
      if (left === 0) openOf.delete(accountId);
      else openOf.set(accountId, left);
    };
  }

  return {
    async stream(order) {
      const leave = enter(order.call.account_id);
      try {
        const response = order.begin();
        const left = new AbortController();
        response.once('close', () => left.abort());
        // It may have gone before anybody listened.
        if (response.destroyed || response.socket === null || response.socket.destroyed) left.abort();
        try {
          await tell(order, response, AbortSignal.any([left.signal, closing.signal]));
        } catch (error) {
          // The client sees the stream end, and comes again with the id of the last event or hears why it may not.
          if (!(error instanceof DatabaseUnavailable) && !(error instanceof Refusal)) throw error;
        } finally {
          response.end();
        }
      } finally {
        leave();
      }
    },
    close: () => closing.abort(),
  };
}

/** Whether nothing about the call will change any more. */
export const isFinal = (call: CallRow): boolean => call.evidence !== null;

function frame(event: CallEvent): string {
  return `id: ${event.id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Waits for a slow client to read what was written. */
function drained(response: ServerResponse, gone: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (gone.aborted || !response.writableNeedDrain) return resolve();
    response.once('drain', resolve);
    gone.addEventListener('abort', () => resolve(), { once: true });
  });
}
