/** Attempts that were placed and have ended at times of the test's choice, written straight to the tables. */
import { formatId } from '@trunkcall/contract';
import type { FindRate } from '../../src/billing/prices.ts';
import { noRates } from '../../src/billing/rates.ts';
import type { SweepDependencies } from '../../src/billing/sweep.ts';
import { systemClock } from '../../src/platform/clock.ts';
import type { Ids } from '../../src/platform/ids.ts';
import { createLog } from '../../src/platform/log.ts';
import { statement, type Database } from '../../src/storage/database.ts';

export interface EndedAttempt {
  readonly accountId: string;
  /** Null: of a call without a Goal. */
  readonly goalId: string | null;
  readonly phone?: string;
  readonly dialedAt: Date;
  /** From the intent to the answer, and from there to the end, milliseconds; null: nobody answers, it does not end. */
  readonly answeredAfterMs?: number | null;
  readonly lastsMs: number | null;
}

const insertRun = statement<never>(
  'kit_ended_run',
  `insert into runs (id, public_id, account_id, goal_id, call_id, recipient_id, run_spec_id, run_spec_version, phone,
                     variables, status, attempt_id, created_at)
   values ($1, $2, $3, $4, $5, $5, 'rspec_x', 1, $6, '{}', 'in_progress', $7, $8)`,
);
const insertAttempt = statement<never>(
  'kit_ended_attempt',
  `insert into attempts (id, run_id, number, carrier, state, outcome, dial_intent_at, answered_at, ended_at)
   values ($1, $2, 1, 'test', $3, $4, $5, $6, $7)`,
);

/** Ends with the attempt's id. */
export async function insertEnded(db: Database, ids: Ids, given: EndedAttempt): Promise<string> {
  const { accountId, goalId, phone = '+12025550100', dialedAt, answeredAfterMs = 5_000, lastsMs } = given;
  const runId = ids.next('run');
  const attemptId = formatId('att', dialedAt.getTime(), crypto.getRandomValues(new Uint8Array(10)));
  const callId = goalId === null ? ids.next('call') : null;
  const publicId = runId.replace('run_', 'grun_');
  await db.query(insertRun, [runId, publicId, accountId, goalId, callId, phone, attemptId, dialedAt]);
  const answeredAt = answeredAfterMs === null ? null : new Date(dialedAt.getTime() + answeredAfterMs);
  const endedAt = lastsMs === null ? null : new Date((answeredAt ?? dialedAt).getTime() + lastsMs);
  const [state, outcome] = endedAt === null ? ['answered', null] : ['ended', 'conversation'];
  await db.query(insertAttempt, [attemptId, runId, state, outcome, dialedAt, answeredAt, endedAt]);
  return attemptId;
}

/** What a sweep needs, without rates; times are the system's unless the test says otherwise. */
export const sweepDependencies = (
  db: Database,
  ids: Ids,
  { findRate = noRates, now }: { readonly findRate?: FindRate; readonly now?: () => number } = {},
): SweepDependencies => ({
  db,
  ids,
  clock: { ...systemClock, ...(now !== undefined && { now }) },
  log: createLog('silent'),
  findRate,
});
