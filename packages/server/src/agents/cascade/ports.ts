/**
 * What a cascade is made of: words of sound, an answer of words, sound of words. Each port has several providers
 * behind it.
 *
 * P1  Nothing here rejects: what goes wrong is a `failed` part or outcome, and nothing follows it.
 * P2  Every wait for a provider has a bound on the wall clock, and ends at once when its signal aborts.
 * P3  A note names the provider's part and a status. It holds no words of the call and no key (I10).
 */
import type { Pcm } from '../audio/synthesizer.ts';
import type { ToolCall, Tool } from '../tools.ts';

export interface Failure {
  readonly kind: 'failed';
  /** For operators. */
  readonly note: string;
}

/** The language and the coding of one call. */
export interface CallSound {
  /** BCP 47. */
  readonly locale: string;
  readonly law: 'mu' | 'a';
}

export interface Transcriber {
  /** Opens the ears for one call. `model` stands in place of the configured one when it is not null. */
  open(sound: CallSound, model: string | null, signal: AbortSignal): Transcription;
}

/** Hears one call. Frames come all the time; words are asked for segment by segment. */
export interface Transcription {
  /** Takes every 20 ms frame of the callee, in order. */
  frame(frame: Uint8Array): void;
  /** A voice has begun; the segment reaches `preRollMs` back. */
  begin(): void;
  /** The segment is over: its words, empty when there were none. Segments are answered in order. */
  end(): Promise<Transcribed>;
  close(): void;
}

export type Transcribed = { readonly kind: 'words'; readonly text: string } | Failure;

/** What comes before a voice is noticed belongs to it. */
export const preRollMs = 400;
/** The longest segment that a transcriber must take. */
export const maxSegmentMs = 8_000;

export interface ChatModel {
  /** Answers, part by part. */
  answer(request: ChatRequest, signal: AbortSignal): AsyncIterable<AnswerPart>;
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly Tool[];
  /** In place of the configured model, when not null. */
  readonly model: string | null;
}

export type ChatMessage =
  | { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }
  /** Tools that the model used beside what it said, and what came of them. */
  | { readonly role: 'tool_use'; readonly said: string; readonly uses: readonly UsedTool[] };

export interface UsedTool {
  readonly call: ToolCall;
  readonly outcome: string;
}

export type AnswerPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool'; readonly call: ToolCall }
  | Failure;

export interface Voice {
  /** Opens the voice for one call. `name` stands in place of the configured voice when it is not null. */
  open(locale: string, name: string | null, signal: AbortSignal): Speaker;
}

export interface Speaker {
  /** Speaks a text of at most `maxSpokenLength` characters, piece by piece. */
  speak(text: string, signal: AbortSignal): AsyncIterable<SoundPart>;
  close(): void;
}

export type SoundPart = { readonly kind: 'sound'; readonly pcm: Pcm } | Failure;

export function failed(note: string): Failure {
  return { kind: 'failed', note };
}
