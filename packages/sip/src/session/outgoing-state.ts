/**
 * The life of an outgoing call up to its answer, as a complete table. Pure; `outgoing.ts` carries it out.
 *
 *   starting ─▶ calling ─1xx─▶ proceeding ─2xx─▶ answered
 *                  │ stop          │ stop
 *                  ▼               ▼
 *              abandoning ─1xx─▶ cancelling ─487, 2xx (crossed), silence─▶ ended
 *
 * Invariants
 * - U1 CANCEL leaves only after a provisional response (RFC 3261 §9.1).
 * - U2 A 2xx that crosses our CANCEL, or comes from a second phone, is acknowledged and ended with BYE.
 * - U3 The INVITE goes to another place only while nothing beyond a 100 came: no phone has rung.
 */

export type OutgoingState =
  | 'starting'
  | 'calling'
  | 'proceeding'
  | 'abandoning'
  | 'cancelling'
  | 'answered'
  | 'ended';

export type OutgoingEvent =
  | 'sent'
  | 'provisional'
  | 'success'
  /** A final failure, silence, or nowhere to send to. */
  | 'failure'
  /** A failure that another try may cure: credentials, session interval, another hop. */
  | 'retry'
  /** The caller, its ring limit or its signal wants no answer any more. */
  | 'stop'
  /** There is no time left to wait for the far end's reaction to that. */
  | 'giveUp';

export type OutgoingEffect =
  | 'sendInvite'
  | 'sendCancel'
  /** Acknowledge the 2xx; the call is up. */
  | 'confirm'
  /** Acknowledge the 2xx and say BYE. */
  | 'release'
  /** Tell the caller how it ended. */
  | 'finish';

interface Cell {
  readonly state: OutgoingState;
  readonly effects: readonly OutgoingEffect[];
}

type Row = Readonly<Record<OutgoingEvent, Cell>>;

function to(state: OutgoingState, ...effects: OutgoingEffect[]): Cell {
  return { state, effects };
}

const TABLE: Readonly<Record<OutgoingState, Row>> = {
  starting: {
    sent: to('calling'),
    provisional: to('starting'),
    success: to('starting'),
    failure: to('ended', 'finish'),
    retry: to('starting'),
    stop: to('ended', 'finish'),
    giveUp: to('starting'),
  },
  calling: {
    sent: to('calling'),
    provisional: to('proceeding'),
    success: to('answered', 'confirm'),
    failure: to('ended', 'finish'),
    retry: to('calling', 'sendInvite'),
    stop: to('abandoning'),
    giveUp: to('calling'),
  },
  proceeding: {
    sent: to('proceeding'),
    provisional: to('proceeding'),
    success: to('answered', 'confirm'),
    failure: to('ended', 'finish'),
    retry: to('calling', 'sendInvite'),
    stop: to('cancelling', 'sendCancel'),
    giveUp: to('proceeding'),
  },
  abandoning: {
    sent: to('abandoning'),
    provisional: to('cancelling', 'sendCancel'),
    success: to('ended', 'release', 'finish'),
    failure: to('ended', 'finish'),
    retry: to('ended', 'finish'),
    stop: to('abandoning'),
    giveUp: to('ended', 'finish'),
  },
  cancelling: {
    sent: to('cancelling'),
    provisional: to('cancelling'),
    success: to('ended', 'release', 'finish'),
    failure: to('ended', 'finish'),
    retry: to('ended', 'finish'),
    stop: to('cancelling'),
    giveUp: to('ended', 'finish'),
  },
  answered: {
    sent: to('answered'),
    provisional: to('answered'),
    success: to('answered', 'release'),
    failure: to('answered'),
    retry: to('answered'),
    stop: to('answered'),
    giveUp: to('answered'),
  },
  ended: {
    sent: to('ended'),
    provisional: to('ended'),
    success: to('ended', 'release'),
    failure: to('ended'),
    retry: to('ended'),
    stop: to('ended'),
    giveUp: to('ended'),
  },
};

export function nextOutgoing(state: OutgoingState, event: OutgoingEvent): Cell {
  return TABLE[state][event];
}
