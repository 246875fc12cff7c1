/**
 * Listening in on a live call, `/console/api/runs/:run/listen?listening=…`: a WebSocket on which a person hears both
 * sides of a call that is recorded. The call does not notice.
 *
 *   page ── POST …/listenings ──▶ server: right, call, room; notes who listens
 *   page ◀═ sound ═ server        binary messages, each 20 ms of G.711 µ-law at 8,000 Hz: 160 bytes of the callee, then 160
 *                                 bytes of ours; what the page does not read in time is left out
 *   page ◀─ ended ── server, which closes (1000)
 *
 * The page sends nothing; what it sends is closed with 1008.
 */

/** Whether somebody can listen in, and else why not. */
export const listenings = [
  'open',
  /** The Goal does not record, so nobody told the callee that others may hear. */
  'not_recorded',
  'not_answered',
  /** Another process leads the call: its sound is there. */
  'elsewhere',
  /** It is simulated, in sentences. */
  'no_sound',
  /** The callee was connected with somebody whom nobody told that others may hear. */
  'transferred',
  /** Two listen already. */
  'full',
  'over',
] as const;
export type Listening = (typeof listenings)[number];

/** Listeners of one call at most. */
export const maxListeners = 2;

/** The answer to who wants to listen in: it was noted, and opens the call to this person for a minute. */
export interface ConsoleListening {
  /** Goes into `listening` of the WebSocket's address. */
  readonly listening: string;
  readonly expires_at: string;
}

/** What the server sends beside sound; the last message. */
export interface ListenMessage {
  readonly type: 'ended';
  readonly reason: ListenEnd;
}

export type ListenEnd =
  | 'call_ended'
  /** The callee was connected with somebody else. */
  | 'transferred'
  /** An hour has passed. */
  | 'limit'
  /** The session ended, or the person may no longer listen in. */
  | 'not_allowed'
  /** The process is about to end. */
  | 'closing';
