/**
 * What the four transaction machines share. Each machine is a pure function from a state and an event to a
 * state and the effects to carry out; `layer.ts` carries them out. An event that means nothing in a state
 * gives back the very same state object and no effects.
 */

/** Milliseconds (RFC 3261 §17.1.1.1, table 4). */
export interface TimerSettings {
  /** Estimate of the round trip. */
  readonly t1Ms: number;
  /** Longest interval between retransmissions. */
  readonly t2Ms: number;
  /** How long a message may live in the network. */
  readonly t4Ms: number;
  /** How long a UDP INVITE client absorbs repeated failures: RFC 3261 asks for 32 s at least. */
  readonly timerDMs: number;
}

export const DEFAULT_TIMERS: TimerSettings = { t1Ms: 500, t2Ms: 4_000, t4Ms: 5_000, timerDMs: 32_000 };

export interface Conditions {
  readonly timers: TimerSettings;
  /** Over TCP or TLS: nothing is retransmitted, nothing lingers for strays. */
  readonly reliable: boolean;
}

/** How long a transaction waits for its other side. */
export function giveUpMs({ t1Ms }: TimerSettings): number {
  return 64 * t1Ms;
}

/** The timers by their names in RFC 3261 and RFC 6026. */
export type TimerName = 'A' | 'B' | 'D' | 'E' | 'F' | 'G' | 'H' | 'I' | 'J' | 'K' | 'L' | 'M';

export type Effect =
  /** Send the request (client) or the latest response (server) again, or for the first time. */
  | { readonly do: 'send' }
  /** Acknowledge a failure response. */
  | { readonly do: 'ack' }
  /** Hand the event's response to the user of the transaction. */
  | { readonly do: 'deliver' }
  | { readonly do: 'setTimer'; readonly timer: TimerName; readonly delayMs: number }
  | { readonly do: 'clearTimer'; readonly timer: TimerName }
  /** Tell the user that no response, or no ACK, came in time. */
  | { readonly do: 'reportTimeout' }
  | { readonly do: 'reportTransportError' };

export interface Step<State> {
  readonly state: State;
  readonly effects: readonly Effect[];
}

const NO_EFFECTS: readonly Effect[] = [];

export function stay<State>(state: State): Step<State> {
  return { state, effects: NO_EFFECTS };
}

export function step<State>(state: State, ...effects: Effect[]): Step<State> {
  return { state, effects };
}

export function setTimer(timer: TimerName, delayMs: number): Effect {
  return { do: 'setTimer', timer, delayMs };
}

export function clearTimer(timer: TimerName): Effect {
  return { do: 'clearTimer', timer };
}

/** The class of a response's status. */
export type ResponseClass = 'provisional' | 'success' | 'failure';

export function responseClass(status: number): ResponseClass {
  if (status < 200) return 'provisional';
  return status < 300 ? 'success' : 'failure';
}

/** What can happen to a client transaction. */
export type ClientEvent =
  | { readonly type: 'start' }
  /** A CANCEL for it has left; means nothing but to INVITE. */
  | { readonly type: 'cancel' }
  | { readonly type: ResponseClass }
  | { readonly type: 'timer'; readonly timer: TimerName }
  | { readonly type: 'transportError' };

/** What can happen to a server transaction; the response classes are those of our own responses. */
export type ServerEvent =
  | { readonly type: 'retransmission' }
  | { readonly type: ResponseClass }
  | { readonly type: 'ack' }
  | { readonly type: 'timer'; readonly timer: TimerName }
  | { readonly type: 'transportError' };
