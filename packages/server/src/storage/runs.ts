import type { GoalRunErrorCode, GoalRunStatus, Scalar } from '@trunkcall/contract';
import { statement } from './database.ts';

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

/** Values: public id, goal id, account id. */
export const findGoalRun = statement<RunRow>(
  'find_goal_run',
  `select ${runColumns} from runs r where r.public_id = $1 and r.goal_id = $2 and r.account_id = $3`,
);
