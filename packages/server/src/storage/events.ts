/**
 * Appending to traces. The events of a run that belongs to a call go into the call's trace, where several runs meet:
 * there the place is taken from a counter in the call's row, whose lock is held until the commit. So events get their
 * numbers in the order of their commits, and a reader loses none that was being committed while it read.
 */
import { statement } from './database.ts';

export interface NewEvent {
  /** SQL for the id, the type and the details (JSON). `s` is the row of the source. */
  readonly id: string;
  readonly type: string;
  readonly details: string;
}

/** The CTEs `event_trace` and `event`: append `event` to the trace of the one run in `source` (run_id, …). */
export const appendEvent = (source: string, event: NewEvent): string =>
  appendEvents(
    source,
    1,
    `select 1 as place, s.run_id, ${event.id} as id, ${event.type} as type, ${event.details} as details from ${source} s`,
  );

/** The same for several events; `events` selects place (from 1, at most `most`), run_id, id, type and details. */
export const appendEvents = (source: string, most: number, events: string): string => `event_trace as (
     update calls c set event_seq = c.event_seq + ${most}
     from ${source} s cross join lateral (select call_id from runs where id = s.run_id limit 1) r
     where c.id = r.call_id
     returning c.id, c.event_seq - ${most} as seq
   ), event as (
     insert into events (trace_id, seq, id, type, details)
     select coalesce(t.id, e.run_id),
            coalesce(t.seq, (select max(seq) from events x where x.trace_id = e.run_id), 0) + e.place,
            e.id, e.type, e.details
     from (${events}) e left join event_trace t on true
   )`;

/** Appends an event of the call itself. Values: call id, event id, type, details (JSON text). */
export const appendCallEvent = statement<never>(
  'append_call_event',
  `with trace as (
     update calls set event_seq = event_seq + 1 where id = $1 returning id, event_seq
   )
   insert into events (trace_id, seq, id, type, details)
   select id, event_seq, $2, $3, $4::json from trace`,
);

export interface EventRow {
  readonly seq: number;
  readonly id: string;
  readonly type: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
}

/** Events behind a place in the trace, at most so many. Values: call or run id, seq, most. */
export const listEvents = statement<EventRow>(
  'list_events',
  `select seq, id, type, details, created_at from events
   where trace_id = $1 and seq > $2::int order by seq limit $3`,
);

/** The place of an event in a trace. Values: call or run id, event id. */
export const findEventPlace = statement<{ readonly seq: number }>(
  'find_event_place',
  'select seq from events where trace_id = $1 and id = $2',
);
