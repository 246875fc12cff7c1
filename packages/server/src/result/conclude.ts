/**
 * The concluder port: judges a call as a whole, once nobody is left to be called.
 *
 * As an extractor, a concluder has no tools and no side effects, may be run again after a crash, and is not
 * trusted: `drawConclusion` checks what it returns against the schema and against what was really said. What the
 * callees say is data.
 */
import type { CallSchema, DetailCode } from '@trunkcall/contract';
import type { SpokenTurn } from '../agents/agent.ts';
import { cut } from '../platform/cut.ts';
import { drawCallResult } from './draw-call-result.ts';
import { fault, isSupported, type Retry } from './draw-result.ts';
import type { Failed, FieldEvidence } from './extractor.ts';

export interface ConclusionTask {
  /** The client's words. */
  readonly task: string;
  /** Of the whole call. */
  readonly resultSchema: CallSchema | null;
  /** Of each recipient. */
  readonly recipientSchema: CallSchema | null;
  /** In their order. */
  readonly recipients: readonly ConcludedRecipient[];
}

export interface ConcludedRecipient {
  readonly status: 'completed' | 'failed' | 'skipped';
  /** How the last attempt ended; null after a conversation, and when there was no attempt. */
  readonly outcome: DetailCode | null;
  /** When that was said, as for an extractor; absent when nobody answered. */
  readonly heldOn?: string;
  /** Everything that was said with this recipient, in order. */
  readonly turns: readonly SpokenTurn[];
  /** What was drawn under the recipient's schema. */
  readonly result: Readonly<Record<string, unknown>> | null;
}

/** A value, and who said it. */
export interface TaskEvidence extends FieldEvidence {
  /** Index into the recipients; `turns` are indexes into this recipient's. */
  readonly recipient: number;
}

/** What a concluder proposes. */
export type ConclusionDraft =
  | {
      readonly kind: 'drawn';
      /** Of the whole-call schema, by path. */
      readonly fields: Readonly<Record<string, TaskEvidence>>;
      /** One to three sentences. */
      readonly summary: string;
      /** By recipient; null where there is nothing to say. */
      readonly recipientSummaries: readonly (string | null)[];
      /** The task reached a clear end. */
      readonly taskCompleted: boolean;
      /** How sure that is, 0–1. */
      readonly score: number;
      /** Words of callees that support it. */
      readonly quotes: readonly string[];
    }
  | Failed;

export interface Concluder {
  conclude(task: ConclusionTask, signal: AbortSignal): Promise<ConclusionDraft>;
}

export interface Confidence {
  /** 0–1, two decimals. */
  readonly score: number;
  readonly label: 'low' | 'medium' | 'high';
}

export type Conclusion =
  | {
      readonly kind: 'conclusion';
      /** Valid under the whole-call schema; null when there is none or it can not be satisfied. */
      readonly structuredResult: Readonly<Record<string, unknown>> | null;
      /** At most 1,000 characters. */
      readonly summary: string;
      /** One per recipient, at most 1,000 characters each. */
      readonly recipientSummaries: readonly (string | null)[];
      readonly taskCompleted: boolean;
      readonly confidence: Confidence;
      /** At most 10 literal quotes of callees, of at most 200 characters. */
      readonly evidence: readonly string[];
    }
  | Retry;

const maxSummaryLength = 1_000;
const maxQuotes = 10;
const maxQuoteLength = 200;

/**
 * Draws the conclusion of a call. A value or a quote that no callee said is not used; a whole-call result that does
 * not satisfy its schema is null. Where nobody spoke there is no whole-call result.
 *
 * Throws: never. Safe to repeat: yes.
 */
export async function drawConclusion(
  task: ConclusionTask,
  concluder: Concluder,
  signal: AbortSignal,
): Promise<Conclusion> {
  const draft = await concluder.conclude(task, signal).catch(fault);
  if (draft.kind === 'failed') return { ...draft, kind: 'retry' };
  return {
    kind: 'conclusion',
    structuredResult: structuredResult(task, draft.fields),
    summary: cut(draft.summary, maxSummaryLength),
    recipientSummaries: task.recipients.map((_, index) => {
      const summary = draft.recipientSummaries[index] ?? null;
      return summary === null ? null : cut(summary, maxSummaryLength);
    }),
    taskCompleted: draft.taskCompleted,
    confidence: confidenceOf(draft.score),
    evidence: literalQuotes(task, draft.quotes),
  };
}

/** Whether a person has said anything on the phone. */
export function hasSpoken({ turns }: ConcludedRecipient): boolean {
  return turns.some(({ speaker }) => speaker === 'user');
}

/** What follows from the proposed fields as far as they are supported; null when that is no valid result. */
export function structuredResult(
  { resultSchema, recipients }: ConclusionTask,
  proposed: Readonly<Record<string, TaskEvidence>>,
): Readonly<Record<string, unknown>> | null {
  if (resultSchema === null || !recipients.some(hasSpoken)) return null;
  const supported = Object.entries(proposed).filter(([, evidence]) =>
    isSupported(evidence, recipients[evidence.recipient]?.turns ?? []),
  );
  const drawn = drawCallResult(resultSchema, { kind: 'fields', fields: new Map(supported) });
  return drawn.kind === 'result' ? drawn.result : null;
}

function confidenceOf(proposed: number): Confidence {
  const bounded = Number.isFinite(proposed) ? Math.min(1, Math.max(0, proposed)) : 0;
  const score = Math.round(bounded * 100) / 100;
  return { score, label: score >= 0.8 ? 'high' : score >= 0.5 ? 'medium' : 'low' };
}

function literalQuotes({ recipients }: ConclusionTask, quotes: readonly string[]): string[] {
  const said = recipients.flatMap(({ turns }) =>
    turns.filter(({ speaker }) => speaker !== 'bot').map(({ text }) => text),
  );
  const literal = quotes
    .map((quote) => cut(quote.trim(), maxQuoteLength).trim())
    .filter((quote) => quote !== '' && said.some((text) => text.includes(quote)));
  return [...new Set(literal)].slice(0, maxQuotes);
}
