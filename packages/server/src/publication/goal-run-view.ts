import { goalRunErrors, type GoalRun } from '@trunkcall/contract';
import type { RunRow } from '../storage/runs.ts';

/** A run as API clients see it: exactly the eleven fields of a Goal Run. */
export function goalRunView(run: RunRow): GoalRun {
  return {
    id: run.public_id,
    object: 'goal_run',
    goal_id: run.goal_id,
    run_id: run.id,
    call_id: run.attempt_id,
    status: run.status,
    run_spec: { id: run.run_spec_id, version: run.run_spec_version },
    result: run.result,
    error:
      run.error_code === null
        ? null
        : {
            code: run.error_code,
            message: goalRunErrors[run.error_code],
            detail_code: run.error_detail_code,
          },
    created_at: run.created_at.toISOString(),
    completed_at: run.completed_at === null ? null : run.completed_at.toISOString(),
  };
}

/** Whether the client is done with it: a `completed` call whose result is still being drawn is not finished. */
export function isFinished(run: RunRow): boolean {
  return run.result !== null || run.error_code !== null;
}
