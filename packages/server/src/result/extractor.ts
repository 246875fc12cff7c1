/**
 * The extractor port: draws the values of the result from what was said.
 *
 * An extractor has no tools and no side effects; it may be run again after a crash. Whatever it returns is
 * validated against the pinned schema by the caller: it can not widen it.
 */
import type { ResultSchema } from '@trunkcall/contract';
import type { SpokenTurn } from '../agents/agent.ts';

export interface ExtractionTask {
  readonly resultSchema: ResultSchema;
  /** The conversation in order; a turn's index is its number in evidence. */
  readonly turns: readonly SpokenTurn[];
  /**
   * The day of the conversation as the callee's calendar shows it, such as "Saturday, 2026-11-21"; with the time, in UTC,
   * where that calendar is not known.
   */
  readonly heldOn?: string;
}

/** One drawn value and what supports it. */
export interface FieldEvidence {
  readonly value: string | number | boolean;
  /** Indexes into the turns. */
  readonly turns: readonly number[];
  /** The supporting words, literally from one of those turns. */
  readonly quote: string;
  /** How sure the extractor is, 0–1; without it the value was understood by rules. */
  readonly confidence?: number;
}

export type Extraction =
  | { readonly kind: 'fields'; readonly fields: Readonly<Record<string, FieldEvidence>> }
  /** There is nothing to draw from; `opted_out` when the callee asked not to be called instead of answering. */
  | { readonly kind: 'nothing'; readonly why: 'nothing_said' | 'opted_out' }
  /** What was drawn does not keep to the schema, and will not when it is tried again. */
  | { readonly kind: 'invalid' }
  | Failed;

/** A fault of ours or of a provider; a later try may succeed. */
export interface Failed {
  readonly kind: 'failed';
  /** Holds no spoken words. */
  readonly note: string;
  /** The provider fails everybody now, so that this says nothing of the conversation. */
  readonly isOut?: true;
}

export interface Extractor {
  extract(task: ExtractionTask, signal: AbortSignal): Promise<Extraction>;
}
