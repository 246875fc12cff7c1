import type { DetailCode, ResultSchema, Scalar } from '@trunkcall/contract';
import { DateTime } from 'luxon';
import type { SpokenTurn } from '../agents/agent.ts';
import type { Clock } from '../platform/clock.ts';
import type { ExtractionTask, Extractor, Failed, FieldEvidence } from './extractor.ts';
import { createResultValidator } from './validate.ts';

export type DrawnResult =
  | {
      readonly kind: 'result';
      /** Valid under the schema. */
      readonly result: Readonly<Record<string, Scalar>>;
      /** By field; a field that was filled with `unknown` has none. */
      readonly evidence: Readonly<Record<string, FieldEvidence>>;
    }
  | {
      readonly kind: 'error';
      readonly code: 'result_invalid' | 'result_unavailable';
      readonly detailCode: DetailCode;
    }
  | Retry;

/** Worth another try; past the last one the Run ends as `result_failed`. */
export interface Retry extends Omit<Failed, 'kind'> {
  readonly kind: 'retry';
}

const validator = createResultValidator();

/** What of an extraction can be used. */
export type DrawnFields =
  | {
      readonly kind: 'fields';
      /** By field. Fields that were not asked for are still in it: whoever returns them is to be refused. */
      readonly fields: ReadonlyMap<string, FieldEvidence>;
    }
  | { readonly kind: 'nothing'; readonly why: 'nothing_said' | 'opted_out' }
  | { readonly kind: 'invalid' }
  | Retry;

/**
 * Draws the result of a conversation: extracts, checks the evidence, validates.
 *
 * - Nothing that answers a question was said: `result_unavailable`.
 * - A required field without a usable value becomes `unknown` if its enum has that member; else
 *   `result_invalid`. Optional fields without a value are left out. Nothing is invented.
 * - A value whose quote is not the callee's, in one of its turns, is not usable.
 * - Undeclared fields are refused, not dropped: whoever returns them has not kept to the schema.
 *
 * Throws: never. Safe to repeat: yes.
 */
export async function drawResult(
  task: ExtractionTask,
  extractor: Extractor,
  signal: AbortSignal,
): Promise<DrawnResult> {
  const drawn = await drawFields(task, extractor, signal);
  switch (drawn.kind) {
    case 'retry':
      return drawn;
    case 'nothing':
      return { kind: 'error', code: 'result_unavailable', detailCode: drawn.why };
    case 'invalid':
      return invalid('schema_mismatch');
    case 'fields':
      return resultFrom(task.resultSchema, drawn.fields);
  }
}

/** One extraction takes no longer. */
const extractionLimitMs = 60_000;

/** Draws the result as `drawResult` does; one that takes longer than a minute is worth another try. Throws: never. */
export async function drawResultInTime(
  task: ExtractionTask,
  extractor: Extractor,
  clock: Clock,
  signal: AbortSignal,
): Promise<DrawnResult> {
  return inTime(clock, extractionLimitMs, signal, (stop) => drawResult(task, extractor, stop));
}

/** Who was told to stop has so long to hand over what it has, milliseconds. */
const handOverMs = 1_000;

/**
 * Does `work` until the limit, or until the signal aborts. Its own signal aborts then, and what it hands over at that,
 * such as an answer that it would have had repaired, counts. Throws: as `work`.
 */
export async function inTime<Drawn extends { readonly kind: string }>(
  clock: Clock,
  limitMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Drawn>,
): Promise<Drawn | Retry> {
  const over = new AbortController();
  const done = new AbortController();
  const tooLate: Retry = { kind: 'retry', note: 'it took too long' };
  const late = (async () => {
    await clock.sleep(limitMs, AbortSignal.any([signal, done.signal]));
    over.abort();
    await clock.sleep(handOverMs, done.signal);
    return tooLate;
  })();
  try {
    const drawn = await Promise.race([work(AbortSignal.any([signal, over.signal])), late]);
    return drawn.kind === 'retry' && over.signal.aborted ? tooLate : drawn;
  } finally {
    done.abort();
  }
}

/** The day of a conversation for `ExtractionTask.heldOn`, where the callee's calendar is; UTC if that is not known. */
export function dayOf(at: Date, timeZone: string | null): string {
  return DateTime.fromJSDate(at, { zone: timeZone ?? 'UTC' })
    .setLocale('en')
    .toFormat('cccc, yyyy-MM-dd');
}

/** The same where the callee's calendar is not known: with the time, so that a reader can reckon. */
export function momentOf(at: Date): string {
  return `${dayOf(at, null)}, ${DateTime.fromJSDate(at, { zone: 'UTC' }).toFormat('HH:mm')} UTC`;
}

/** Extracts and drops the values of asked fields that no words of the callee support. Throws: never. */
export async function drawFields(
  task: ExtractionTask,
  extractor: Extractor,
  signal: AbortSignal,
): Promise<DrawnFields> {
  const { resultSchema, turns } = task;
  const extraction = await extractor.extract(task, signal).catch(fault);
  switch (extraction.kind) {
    case 'failed':
      return { ...extraction, kind: 'retry' };
    case 'nothing':
    case 'invalid':
      return extraction;
    case 'fields': {
      const usable = Object.entries(extraction.fields).filter(
        ([name, evidence]) => !Object.hasOwn(resultSchema.properties, name) || isSupported(evidence, turns),
      );
      return { kind: 'fields', fields: new Map(usable) };
    }
  }
}

function resultFrom(schema: ResultSchema, evidence: ReadonlyMap<string, FieldEvidence>): DrawnResult {
  const values = new Map<string, Scalar>([...evidence].map(([name, { value }]) => [name, value]));
  for (const name of schema.required) {
    if (values.has(name)) continue;
    if (!allowsUnknown(schema, name)) return invalid('missing_required');
    values.set(name, 'unknown');
  }
  const result = Object.fromEntries(values);
  if (validator.problems(schema, result).length > 0) return invalid('schema_mismatch');
  return { kind: 'result', result, evidence: Object.fromEntries(evidence) };
}

function invalid(detailCode: DetailCode): DrawnResult {
  return { kind: 'error', code: 'result_invalid', detailCode };
}

function allowsUnknown({ properties }: ResultSchema, name: string): boolean {
  const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
  return property?.enum?.includes('unknown') ?? false;
}

/** Whether the quote stands literally in one of the cited turns, and the callee said it. */
export function isSupported({ turns: cited, quote }: FieldEvidence, turns: readonly SpokenTurn[]): boolean {
  return quote.trim() !== '' && cited.some((index) => supports(turns[index], quote));
}

/** Our own words prove nothing. */
function supports(turn: SpokenTurn | undefined, quote: string): boolean {
  return turn !== undefined && turn.speaker !== 'bot' && turn.text.includes(quote);
}

/** An extractor that throws has a fault; its message may quote the conversation and stays out of the logs. */
export function fault(error: unknown): Failed {
  return { kind: 'failed', note: error instanceof Error ? error.name : 'unknown fault' };
}
