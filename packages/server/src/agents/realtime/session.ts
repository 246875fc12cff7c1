/**
 * A conversation through a Realtime server as a pure state machine: what the server, the leg and the time tell us
 * in, what to do out.
 *
 *   connecting ─▶ up ⇄ (lost, once) ─▶ closing ─▶ over
 *
 *   response:  none ─▶ asked ─▶ running ─▶ none          what is wanted meanwhile waits
 *   our voice: silent ─▶ playing ─▶ silent               cut when the callee speaks, although the response is done
 *
 * R1  One response at a time: `response.create` waits for `response.done`, for the callee's turn to be over, and for
 *     a queue that is being dropped.
 * R2  Until the callee heard our first sentence to its end, every response is told to begin with it (A1).
 * R3  An item is truncated once, at what was really played, and only when something of it was not played.
 * R4  From the wrap-up on every response is told to end the call, and when it was heard the call ends (A4).
 * R5  It ends: silences, failures, goodbyes, reconnections and every wait are bounded.
 * R6  Somebody else is called for the callee only when our words were heard to their end, and one at a time. Meanwhile
 *     neither side of the conversation speaks.
 *
 * The states are here, the moves between them in `moves.ts`; what the callee does is in `callee.ts`, what the tools
 * do in `tool-use.ts`, what time alone does in `timers.ts`, and `next-session.ts` puts them together.
 */
import type { AnsweredBy, Direction, ResultSchema } from '@trunkcall/contract';
import type { ConversationEnd, Note, TransferTarget, Turn } from '../agent.ts';
import type { ClientEvent } from './client-events.ts';
import type { Prompt } from '../prompt.ts';
import type { Grammar } from '../scripted/locales/locale.ts';
import type { ToolCall } from '../tools.ts';
import { unanswered, type Answer, type MachinePolicies } from '../who-answered.ts';
import type { TurnOrder } from './turn-order.ts';
import { silentVoice, type Voice } from './voice.ts';

/** What stays the same for one call. */
export interface Plan extends MachinePolicies {
  readonly direction: Direction;
  /** For whom we call. */
  readonly callerName: string;
  /** Whether our words go out as sentences or as sound. */
  readonly media: 'speech' | 'audio';
  readonly prompt: Prompt;
  readonly resultSchema: ResultSchema;
  readonly targets: readonly TransferTarget[];
  /** What tells machines by their words; null for a language that we have none of. */
  readonly grammar: Grammar | null;
  readonly answersByItself: boolean;
  readonly namesItems: boolean;
}

/** Why we want the model to speak. */
export type Wanted =
  | 'reply'
  | 'still_there'
  | 'none_heard'
  | 'opted_out'
  | 'message'
  | 'bridge'
  | 'connecting';

export interface Asked {
  readonly eventId: string;
  readonly wanted: Wanted;
  /** How the conversation ends once this was heard; null when it goes on. */
  readonly closing: ConversationEnd | null;
}

/** A callee who waits for our answer; leg times. */
export interface Waiting {
  readonly stoppedAtMs: number;
  readonly decidedAtMs: number;
  /** The first sound of the answer has come, and this is its message. */
  readonly answer: { readonly itemId: string; readonly cameAtMs: number } | null;
}

export interface Session {
  readonly connection: 'connecting' | 'up' | 'lost';
  readonly connectingSinceMs: number;
  readonly reconnections: number;
  /** What was asked for and is not done. */
  readonly asked: Asked | null;
  readonly askedCount: number;
  /** The running response. */
  readonly responseId: string | null;
  /** When something last came of what was asked for. */
  readonly responseAtMs: number;
  /** The callee cut this one short: what still comes of it is not played. */
  readonly mutedId: string | null;
  readonly calls: readonly ToolCall[];
  readonly wanted: Wanted | null;
  /** Not before this time, after a failure. */
  readonly wantedFromMs: number;
  readonly failures: number;
  /** Responses in a row that said nothing. */
  readonly mute: number;
  readonly voice: Voice;
  readonly playing: boolean;
  /** Leg time at which all that was queued will have been played. */
  readonly playedOutAtMs: number;
  readonly marks: number;
  /** The model has been heard, or at least sent sound or words. */
  readonly voiceCame: boolean;
  readonly calleeSpeaking: boolean;
  readonly speakingSinceMs: number;
  /** Keys that came and were not told to the model. */
  readonly keys: string;
  readonly keysAtMs: number;
  /** The last turn of the callee: what is noted is noted of it. */
  readonly lastCallee: string | null;
  /** Noted of a turn that was reported before; the next one takes it along. */
  readonly owed: readonly Note[];
  readonly opened: boolean;
  readonly disclosed: boolean;
  readonly wrapUpAtMs: number;
  readonly late: boolean;
  readonly silences: number;
  readonly lastWords: string;
  /** How often the callee said the same again. */
  readonly repeats: number;
  /** They want no more calls. */
  readonly optedOut: boolean;
  /** The turn of the callee that nothing was heard of us about. */
  readonly waiting: Waiting | null;
  /** When anything last happened that a person would notice. */
  readonly activeAtMs: number;
  readonly pressed: number;
  /** Who answered our call. */
  readonly answer: Answer;
  readonly machine: 'none' | 'awaiting_beep' | 'leaving_message';
  readonly machineAtMs: number;
  readonly beeped: boolean;
  /** With whom the callee is to be connected when our words were heard, and whether that is under way. */
  readonly connectTo: string | null;
  readonly connecting: boolean;
  readonly goodbyes: number;
  /** How it ends when what we say now was heard. */
  readonly ending: ConversationEnd | null;
  readonly endingAtMs: number;
  /** How it ended; only missing words are awaited. */
  readonly end: ConversationEnd | null;
  /** All was told. */
  readonly over: boolean;
  readonly order: TurnOrder;
  readonly reportedUntilMs: number;
  /** What was said, for another connection. */
  readonly history: readonly { readonly role: 'user' | 'assistant'; readonly text: string }[];
}

export type Effect =
  | { readonly kind: 'connect' }
  | { readonly kind: 'send'; readonly event: ClientEvent }
  | { readonly kind: 'play'; readonly audio: Uint8Array }
  /** Tell when all that was played up to here was heard. */
  | { readonly kind: 'mark'; readonly id: number }
  | { readonly kind: 'clear' }
  | { readonly kind: 'say'; readonly text: string; readonly itemIds: readonly string[] }
  | { readonly kind: 'press'; readonly keys: string }
  | { readonly kind: 'transfer'; readonly to: string }
  | { readonly kind: 'turn'; readonly turn: Turn }
  | { readonly kind: 'opted_out' }
  | { readonly kind: 'answered_by'; readonly who: AnsweredBy }
  /** The conversation is over but for missing words; they are awaited a little. */
  | { readonly kind: 'await_words' }
  | { readonly kind: 'end'; readonly end: ConversationEnd };

/** The state on its way to the next one. */
export type Draft = { -readonly [Field in keyof Session]: Session[Field] } & {
  readonly plan: Plan;
  readonly atMs: number;
  readonly effects: Effect[];
};

export function beginSession(wrapUpAtMs: number, atMs: number): Session {
  return {
    connection: 'connecting',
    connectingSinceMs: atMs,
    reconnections: 0,
    asked: null,
    askedCount: 0,
    responseId: null,
    responseAtMs: 0,
    mutedId: null,
    calls: [],
    wanted: null,
    wantedFromMs: 0,
    failures: 0,
    mute: 0,
    voice: silentVoice,
    playing: false,
    playedOutAtMs: 0,
    marks: 0,
    voiceCame: false,
    calleeSpeaking: false,
    speakingSinceMs: 0,
    keys: '',
    keysAtMs: 0,
    lastCallee: null,
    owed: [],
    opened: false,
    disclosed: false,
    wrapUpAtMs,
    late: false,
    silences: 0,
    lastWords: '',
    repeats: 0,
    optedOut: false,
    waiting: null,
    activeAtMs: atMs,
    pressed: 0,
    answer: unanswered,
    machine: 'none',
    machineAtMs: 0,
    beeped: false,
    connectTo: null,
    connecting: false,
    goodbyes: 0,
    ending: null,
    endingAtMs: 0,
    end: null,
    over: false,
    order: [],
    reportedUntilMs: 0,
    history: [],
  };
}
