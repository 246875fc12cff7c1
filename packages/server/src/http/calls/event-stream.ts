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
   * Streams until there is nothing more to tell, the client leaves, ten minutes have passed, or the database is away.
   * `begin` is asked for the response once it is sure that there is room. Throws: Refusal `rate_limit_exceeded`.
   */
  stream(call: CallRow, after: number, begin: () => ServerResponse): Promise<void>;
  /** Ends all streams. */
  close(): void;
}

const maxStreams = 500;
const pauseMs = 500;
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

  async function tell(
    call: CallRow,
    after: number,
    response: ServerResponse,
    gone: AbortSignal,
  ): Promise<void> {
    const endAt = clock.monotonic() + longestMs;
    let heartbeatAt = clock.monotonic() + heartbeatMs;
    let place = after;
    while (!gone.aborted && clock.monotonic() < endAt) {
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
      if (rows.length === 0 && clock.monotonic() >= heartbeatAt) response.write(': still here\n\n');
      if (rows.length > 0 || clock.monotonic() >= heartbeatAt) heartbeatAt = clock.monotonic() + heartbeatMs;
      await clock.sleep(pauseMs, gone);
    }
  }

  return {
    async stream(call, after, begin) {
      if (open >= maxStreams) {
        throw new Refusal('rate_limit_exceeded', `${maxStreams} streams are open already`, {
          headers: { 'retry-after': '5' },
        });
      }
      const response = begin();
      const left = new AbortController();
      response.once('close', () => left.abort());
      const gone = AbortSignal.any([left.signal, closing.signal]);
      open += 1;
      try {
        await tell(call, after, response, gone);
      } catch (error) {
        // The client sees the stream end and comes again, with the id of the last event.
        if (!(error instanceof DatabaseUnavailable)) throw error;
      } finally {
        open -= 1;
        response.end();
      }
    },
    close: () => closing.abort(),
  };
}

/** Whether nothing about the call will change any more. */
const isFinal = (call: CallRow): boolean => call.evidence !== null;

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
