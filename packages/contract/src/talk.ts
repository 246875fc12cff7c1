/**
 * Talking to a draft, `/console/api/goals/:goal/talk`: a WebSocket on which a person plays the callee. Nobody is
 * dialled, and nothing is kept.
 *
 *   page ── start ──▶ server: checks the draft, the variables, the agent
 *   page ◀─ answered, turn …, keys … ── server        text messages: JSON, one object each
 *   page ── say, typing, nothing, keys, beep, hang_up ──▶ server
 *   page ◀═ audio ═▶ server                           binary messages, `spoken` alone: 20 ms of G.711 µ-law, 160 bytes
 *   page ◀─ ended, result ── server, which closes (1000)
 *
 * A `problem` may come at any time; it is the last message. What breaks the protocol is closed with 1008, a message
 * that is too large with 1009.
 */
import { Type, type Static } from 'typebox';
import { enumeration } from './enumeration.ts';
import type { GoalRunErrorCode, DetailCode } from './errors.ts';
import type { Scalar } from './goal-file.ts';
import type { GoalFileProblem } from './operator-goals.ts';
import type { OperatorEvidence, OperatorTurn } from './operator-runs.ts';

const closed = { additionalProperties: false } as const;

/** `typed`: in sentences, as on the simulated network. `spoken`: in sound, as on a telephone line. */
export const talkModes = ['typed', 'spoken'] as const;
export type TalkMode = (typeof talkModes)[number];

/** What the page sends, by `type`. */
export const talkRequests = {
  /** The first message. `variables` are checked as those of a Goal Run. */
  start: Type.Object(
    {
      type: Type.Literal('start'),
      mode: enumeration(talkModes),
      variables: Type.Record(Type.String(), Type.Unknown()),
    },
    closed,
  ),
  /** `typed`: the callee says something. */
  say: Type.Object(
    { type: Type.Literal('say'), text: Type.String({ minLength: 1, maxLength: 2_000 }) },
    closed,
  ),
  /** `typed`: whether the callee is about to say something; the agent waits as long. */
  typing: Type.Object({ type: Type.Literal('typing'), typing: Type.Boolean() }, closed),
  /** `typed`: the callee says nothing; the agent's wait is over. */
  nothing: Type.Object({ type: Type.Literal('nothing') }, closed),
  /** The callee presses keys. */
  keys: Type.Object(
    { type: Type.Literal('keys'), digits: Type.String({ pattern: '^[0-9*#]{1,32}$' }) },
    closed,
  ),
  /** An answering machine's beep is heard. */
  beep: Type.Object({ type: Type.Literal('beep') }, closed),
  hang_up: Type.Object({ type: Type.Literal('hang_up') }, closed),
} as const;

export type TalkRequest = {
  [Name in keyof typeof talkRequests]: Static<(typeof talkRequests)[Name]>;
}[keyof typeof talkRequests];

/** How a talk ended; the first five as a call can. */
export type TalkOutcome =
  | 'conversation'
  | 'message_left'
  | 'machine'
  | 'call_limit'
  | 'agent_failed'
  /** No sound came from the page any more. */
  | 'media_failed'
  /** Nobody wrote or pressed anything for a while. */
  | 'idle'
  /** The session ended, or the person may no longer write the Goal. */
  | 'not_allowed'
  /** The process is about to end. */
  | 'closing';

/** What the server sends. */
export type TalkMessage =
  /** The agent listens, for so long at most. */
  | { readonly type: 'answered'; readonly limit_seconds: number }
  | ({ readonly type: 'turn' } & Pick<
      OperatorTurn,
      'index' | 'speaker' | 'text' | 'offset_seconds' | 'interrupted'
    >)
  /** The agent pressed keys. */
  | { readonly type: 'keys'; readonly digits: string }
  /** What the page has not played yet is not to be heard: the agent was interrupted. */
  | { readonly type: 'clear' }
  | {
      readonly type: 'ended';
      /** Null: neither side; `outcome` says what did. */
      readonly ended_by: 'callee' | 'agent' | null;
      readonly outcome: TalkOutcome;
      /** For authors; none of what was said. */
      readonly note: string | null;
    }
  /** What a Run of this conversation would show. */
  | {
      readonly type: 'result';
      readonly result: Readonly<Record<string, Scalar>> | null;
      readonly error: {
        readonly code: GoalRunErrorCode;
        readonly message: string;
        readonly detail_code: DetailCode | null;
      } | null;
      readonly evidence: Readonly<Record<string, OperatorEvidence>>;
    }
  | {
      readonly type: 'problem';
      readonly message: string;
      /** What is wrong with the draft; empty when it is something else. */
      readonly problems: readonly GoalFileProblem[];
    };
