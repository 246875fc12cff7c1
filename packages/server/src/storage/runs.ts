import type { GoalRunErrorCode, GoalRunStatus, Scalar } from '@trunkcall/contract';
import { createBatcher } from '../platform/batcher.ts';
import { DatabaseUnavailable, statement, type Database } from './database.ts';

/** A run as it is read for its public face: everything that a Goal Run shows, nothing that it hides. */
export interface RunRow {
  readonly id: string;
  readonly public_id: string;
  readonly goal_id: string;
  readonly run_spec_id: string;
  readonly run_spec_version: number;
  readonly status: GoalRunStatus;
  readonly attempt_id: string | null;
  readonly result: Readonly<Record<string, Scalar>> | null;
  readonly error_code: GoalRunErrorCode | null;
  readonly error_detail_code: string | null;
  readonly created_at: Date;
  readonly completed_at: Date | null;
}

export const runColumns = `r.id, r.public_id, r.goal_id, r.run_spec_id, r.run_spec_version, r.status, r.attempt_id,
  r.result, r.error_code, r.error_detail_code, r.created_at, r.completed_at`;

/** Values, one element per request: public ids, goal ids, account ids. `place` counts from 1. */
export const findGoalRuns = statement<RunRow & { readonly place: number }>(
  'find_goal_runs',
  `select a.place::int as place, r.*
   from unnest($1::text[], $2::text[], $3::text[]) with ordinality as a (public_id, goal_id, account_id, place)
   cross join lateral (
     select ${runColumns} from runs r
     where r.public_id = a.public_id and r.goal_id = a.goal_id and r.account_id = a.account_id limit 1
   ) r`,
);

/** Finds a Goal Run of the account under exactly this Goal; null when there is none. A pure read (I7). */
export type FindRun = (publicId: string, goalId: string, accountId: string) => Promise<RunRow | null>;

const maxWaiting = 20_000;

/** Builds the reader. Polls of one moment share a trip to the database. */
export function createRunReader(db: Database): FindRun {
  const batcher = createBatcher<readonly [string, string, string], RunRow | null>({
    lanes: Math.min(2, db.sessions),
    maxBatch: 128,
    maxWaiting,
    onFull: () => new DatabaseUnavailable('too many requests are waiting for the database'),
    retryAlone: (error) => !(error instanceof DatabaseUnavailable),
    run: async (asked) => {
      const columns = [0, 1, 2].map((column) => asked.map((one) => one[column] ?? ''));
      const rows = await db.query(findGoalRuns, columns);
      const byPlace = new Map(rows.map((row) => [row.place, row]));
      return asked.map((_, index) => byPlace.get(index + 1) ?? null);
    },
  });
  return (publicId, goalId, accountId) => batcher.submit([publicId, goalId, accountId]);
}
