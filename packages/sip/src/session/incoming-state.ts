/**
 * The life of an inbound call up to its ACK, as a complete table. Pure; `incoming.ts` carries it out.
 *
 *   ringing ─accept─▶ accepting ─PRACK─▶ accepted ─ACK─▶ confirmed
 *      │                 │                  └─no ACK, BYE─▶ ended
 *      └reject, CANCEL, limit, lost PRACK─▶ ended
 *
 * `accepting` waits until the last reliable provisional response is acknowledged (RFC 3262 §3); without one it
 * is passed through at once.
 */

export type IncomingState = 'ringing' | 'accepting' | 'accepted' | 'confirmed' | 'ended';

export type IncomingEvent =
  | 'accept'
  /** No reliable provisional response waits for its PRACK any more. */
  | 'settled'
  | 'reject'
  /** CANCEL, or BYE on the early dialog. */
  | 'withdraw'
  | 'ack';

export type IncomingEffect =
  /** Send the 2xx as soon as provisional responses are settled. */
  | 'settle'
  | 'sendSuccess'
  | 'sendRejection'
  /** Answer the INVITE with 487. */
  | 'sendTerminated'
  | 'confirm'
  | 'finish';

interface Cell {
  readonly state: IncomingState;
  readonly effects: readonly IncomingEffect[];
}

function to(state: IncomingState, ...effects: IncomingEffect[]): Cell {
  return { state, effects };
}

const TABLE: Readonly<Record<IncomingState, Readonly<Record<IncomingEvent, Cell>>>> = {
  ringing: {
    accept: to('accepting', 'settle'),
    settled: to('ringing'),
    reject: to('ended', 'sendRejection', 'finish'),
    withdraw: to('ended', 'sendTerminated', 'finish'),
    ack: to('ringing'),
  },
  accepting: {
    accept: to('accepting'),
    settled: to('accepted', 'sendSuccess'),
    reject: to('ended', 'sendRejection', 'finish'),
    withdraw: to('ended', 'sendTerminated', 'finish'),
    ack: to('accepting'),
  },
  accepted: {
    accept: to('accepted'),
    settled: to('accepted'),
    // Too late for a rejection: the 2xx is out. A CANCEL that crosses it has no effect (RFC 3261 §9.2).
    reject: to('accepted'),
    withdraw: to('accepted'),
    ack: to('confirmed', 'confirm'),
  },
  confirmed: {
    accept: to('confirmed'),
    settled: to('confirmed'),
    reject: to('confirmed'),
    withdraw: to('confirmed'),
    ack: to('confirmed'),
  },
  ended: {
    accept: to('ended'),
    settled: to('ended'),
    reject: to('ended'),
    withdraw: to('ended'),
    ack: to('ended'),
  },
};

export function nextIncoming(state: IncomingState, event: IncomingEvent): Cell {
  return TABLE[state][event];
}
