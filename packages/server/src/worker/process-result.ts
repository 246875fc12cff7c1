import { dayOf, drawResultInTime, type DrawnResult } from '../result/draw-result.ts';
import type { Extractor } from '../result/extractor.ts';
import { assert } from '../platform/assert.ts';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import { publishInboundRun } from '../publication/publish-inbound.ts';
import type { Database, Queryable, SqlValue } from '../storage/database.ts';
import { putBackJob, type Lease } from '../storage/jobs.ts';
import { patiently, persist } from '../storage/persist.ts';
import { findResultSchema, findTurns, publishResult } from '../storage/results.ts';
import { drawnAgain } from './retries.ts';

export interface ResultDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly extractor: Extractor;
  /** Told after an inbound run became final, so that its webhooks need not wait. */
  readonly onPublished: () => void;
}

/**
 * Draws the result of a completed run from its conversation and publishes it, or the reason why there is none.
 * May be done again after a crash: only the first publication counts.
 */
export async function processResult(deps: ResultDependencies, lease: Lease): Promise<void> {
  const [run] = await deps.db.query(findResultSchema, [lease.subjectId]);
  assert(run !== undefined, 'an extraction job has a run');
  const rows = await deps.db.query(findTurns, [lease.subjectId]);
  const turns = rows.map((row) => ({ ...row, offsetMs: row.offset_ms }));
  const heldOn = run.answered_at === null ? {} : { heldOn: dayOf(run.answered_at, run.timezone) };
  const task = { resultSchema: run.result_schema, turns, ...heldOn };
  const drawn = await drawResultInTime(task, deps.extractor, deps.clock, lease.signal);
  if (lease.signal.aborted) return;

  if (drawn.kind === 'retry') {
    const again = await drawnAgain(deps.db, lease.subjectId, lease.tries, drawn);
    const level = again?.counts === false ? 'debug' : 'warn';
    deps.log[level]({ run_id: lease.subjectId, tries: lease.tries, note: drawn.note }, 'extraction failed');
    if (again !== null) {
      await persist(deps.db, deps.clock, lease, putBackJob, ['extract', again.inMs, again.counts]);
      return;
    }
  }
  const values = publishValues(deps.ids, drawn);
  const held = [lease.subjectId, lease.fence] as const;
  const publish = (tx: Queryable) => publishRunResult(tx, deps, held, values);
  // A single statement is a transaction by itself.
  const published = await patiently(deps.clock, () =>
    run.inbound ? deps.db.transaction(publish) : publish(deps.db),
  );
  if (published && run.inbound) deps.onPublished();
  const error = drawn.kind === 'result' ? null : drawn.kind === 'error' ? drawn.code : 'result_failed';
  deps.log.info(
    { run_id: lease.subjectId, error_code: error, tries: lease.tries, stored: published },
    'result',
  );
}

/**
 * Publishes the result of a run whose extraction is `held` (run id, fence), and with that of an inbound run the news of
 * it. Ends with whether it was published now.
 */
export async function publishRunResult(
  tx: Queryable,
  deps: { readonly ids: Ids; readonly clock: Clock },
  held: readonly [string, number],
  values: readonly SqlValue[],
): Promise<boolean> {
  const [published] = await tx.query(publishResult, [...held, ...values]);
  if (published?.inbound === true) await publishInboundRun(tx, deps, published.run_id);
  return published !== undefined;
}

function publishValues(ids: Ids, drawn: DrawnResult): SqlValue[] {
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
