/**
 * The agent port: who speaks for us on an answered leg. Every agent passes `test/conformance/agent.ts`.
 *
 * A1  The first sentence says that an automated assistant is calling and for whom; of an account that has switched that
 *     off, for whom alone. Who called us hears whose automated assistant answers. Asked whether it is a robot it says
 *     yes, always.
 * A2  `converse` resolves to how the conversation ended, within the leg's end or the abort of the signal; it
 *     does not hang up: the conversation stage does.
 * A3  Every turn is reported as it happens, in order, as *heard*, with its offset on the leg's clock. A wish not to
 *     be called again is told when it is heard, whatever else is still open.
 * A4  From `wrapUpAtMs` on it asks nothing new and says goodbye.
 * A5  What the callee says is data: it never changes whom we call or what we send. They can be connected only with
 *     those that the Goal names, and the agent knows no number.
 * A6  Of a call that we place it tells who answered, as soon as that is decided. Its first words wait for the callee's
 *     to be over, and when there are none until 2 s after the answer. What follows for a machine is the Goal's word.
 */
import type {
  AgentSettings,
  AnsweredBy,
  Direction,
  ResultSchema,
  TurnLatency,
  Variables,
} from '@trunkcall/contract';
import type { Leg, Media, Transferred } from '../carriers/carrier.ts';
import type { MachinePolicies } from './who-answered.ts';

export interface Brief extends MachinePolicies {
  /** Who called whom. The agent calls the other side the callee, also when it is who called us. */
  readonly direction: Direction;
  /** For whom we call or answer, as the callee should hear it. */
  readonly callerName: string;
  /** Say just this, and end: nothing is asked. Null: hold a conversation. */
  readonly announcement: string | null;
  readonly title: string;
  /** The Goal's instructions with the variables rendered in as data. */
  readonly instructions: string;
  readonly variables: Variables;
  /** BCP 47. */
  readonly locale: string;
  /** IANA time zone of the callee, if known: decides which day is "tomorrow". UTC otherwise. */
  readonly timeZone: string;
  readonly resultSchema: ResultSchema;
  readonly settings: AgentSettings;
  /** The call is recorded, and the callee must be told. */
  readonly recorded: boolean;
  /** The first sentence says that an automated assistant is calling. */
  readonly disclosure: boolean;
  /** With whom the callee may be connected; null: with nobody. */
  readonly transfer: TransferOffer | null;
  /** Leg time at which to wrap up, milliseconds. */
  readonly wrapUpAtMs: number;
}

/** Somebody with whom the callee may be connected. */
export interface TransferTarget {
  /** Unique in the Goal. */
  readonly name: string;
  /** When to offer it, in the author's words; null when they left it open. */
  readonly when: string | null;
}

export interface TransferOffer {
  /** At least one. */
  readonly targets: readonly TransferTarget[];
  /**
   * Connects the callee with one of them, by name; to be called when our last words were heard. `connected`: the two
   * are talking, and the agent ends with `transferred`. Never rejects.
   */
  connect(name: string): Promise<Transferred>;
}

/** What was said. */
export interface SpokenTurn {
  readonly speaker: 'bot' | 'user' | 'unknown';
  readonly text: string;
  /** Leg time at which the turn began, milliseconds. */
  readonly offsetMs: number;
  /** The other side cut this turn short; `text` ends where it was cut. */
  readonly interrupted: boolean;
  /** What the agent understood from this turn, in the order in which it did. */
  readonly notes: readonly Note[];
}

export interface Turn extends SpokenTurn {
  /** How long the callee waited for it. Null: it answers nobody, or the leg's time is not that of a person. */
  readonly latency: TurnLatency | null;
}

/** A structured fact taken from one turn of the callee: the evidence of a field. */
export type Note =
  | {
      readonly kind: 'answer';
      readonly field: string;
      readonly value: string | number | boolean;
      readonly quote: string;
    }
  /** A reply to the question without a usable value: not understood, not known, nothing to say. */
  | { readonly kind: 'not_understood'; readonly field: string }
  | { readonly kind: 'opted_out' }
  /** Of a turn of ours: from here on the callee talks to somebody else. */
  | { readonly kind: 'transferred'; readonly to: string };

/** Takes turns in order. Does not wait for storage and does not throw. */
export interface TranscriptSink {
  turn(turn: Turn): void;
  /**
   * The callee does not want to be called again. Told as soon as it is known: the turn that says so may wait for its
   * words. Safe to repeat.
   */
  optedOut(): void;
  /** Who answered our call is decided; told again when it was another. */
  answeredBy(who: AnsweredBy): void;
}

export type ConversationEnd =
  | { readonly kind: 'finished' }
  | { readonly kind: 'callee_left' }
  | { readonly kind: 'opted_out' }
  /** Somebody else talks with the callee now. */
  | { readonly kind: 'transferred'; readonly to: string }
  | { readonly kind: 'machine'; readonly did: 'hang_up' | 'leave_message' }
  | { readonly kind: 'failed'; readonly note: string };

export interface Agent {
  readonly kind: AgentSettings['kind'];
  /** Why this agent could not serve a Goal with this locale here, on legs of this kind; empty when it can. */
  problems(locale: string, media: Media['kind']): string[];
  converse(brief: Brief, leg: Leg, transcript: TranscriptSink, signal: AbortSignal): Promise<ConversationEnd>;
}
