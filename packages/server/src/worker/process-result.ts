import type { Extractor } from '../result/extractor.ts';
import { drawResult } from '../result/draw-result.ts';
import { assert } from '../platform/assert.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import type { Database, SqlValue } from '../storage/database.ts';
import { putBackJob, type Lease } from '../storage/jobs.ts';
import { persist } from '../storage/persist.ts';
import { findResultSchema, findTurns, publishResult } from '../storage/results.ts';

export interface ResultDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly extractor: Extractor;
}

/** An extraction is tried so often, with pauses between, before the Run ends as `result_failed`. */
const extractionPausesMs = [1_000, 5_000, 30_000, 120_000];
/** One extraction takes no longer. */
const extractionLimitMs = 60_000;

/**
 * Draws the result of a completed run from its conversation and publishes it, or the reason why there is none.
 * May be done again after a crash: only the first publication counts.
 */
export async function processResult(deps: ResultDependencies, lease: Lease): Promise<void> {
  const [run] = await deps.db.query(findResultSchema, [lease.runId]);
  assert(run !== undefined, 'an extraction job has a run');
  const rows = await deps.db.query(findTurns, [lease.runId]);
  const turns = rows.map((row) => ({ ...row, offsetMs: row.offset_ms }));
  const over = new AbortController();
  const drawn = await Promise.race([
    drawResult({ resultSchema: run.result_schema, turns }, deps.extractor, over.signal),
    tooLate(deps.clock, AbortSignal.any([lease.signal, over.signal])),
  ]);
  over.abort();
  if (lease.signal.aborted) return;

  if (drawn.kind === 'retry') {
    const pauseMs = extractionPausesMs[lease.tries - 1];
    deps.log.warn({ run_id: lease.runId, tries: lease.tries, note: drawn.note }, 'extraction failed');
    if (pauseMs !== undefined) {
      await persist(deps.db, deps.clock, lease, putBackJob, ['extract', pauseMs, true]);
      return;
    }
  }
  const published = await persist(deps.db, deps.clock, lease, publishResult, publishValues(deps.ids, drawn));
  const error = drawn.kind === 'result' ? null : drawn.kind === 'error' ? drawn.code : 'result_failed';
  deps.log.info({ run_id: lease.runId, error_code: error, tries: lease.tries, stored: published }, 'result');
}

/** Resolves when the extraction has taken too long, or the signal aborts. */
async function tooLate(clock: Clock, signal: AbortSignal): Promise<Drawn> {
  await clock.sleep(extractionLimitMs, signal);
  return { kind: 'retry', note: 'it took too long' };
}

type Drawn = Awaited<ReturnType<typeof drawResult>>;

function publishValues(ids: Ids, drawn: Drawn): SqlValue[] {
  switch (drawn.kind) {
    case 'result':
      return [JSON.stringify(drawn.result), JSON.stringify(drawn.evidence), null, null, ids.next('evt')];
    case 'error':
      return [null, null, drawn.code, drawn.detailCode, ids.next('evt')];
    case 'retry':
      return failedValues(ids);
  }
}

/** The values of `publishResult`, behind run id and fence, for an extraction that has failed for good. */
export const failedValues = (ids: Ids): SqlValue[] => [
  null,
  null,
  'result_failed',
  'extraction_failed',
  ids.next('evt'),
];
