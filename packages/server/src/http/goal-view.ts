import type { Goal, GoalFile } from '@trunkcall/contract';

/** A Goal as API clients see it: its published interface; no prompt, no voice, no provider. */
export function goalView(goalId: string, runSpecId: string, version: number, content: GoalFile): Goal {
  return {
    object: 'goal',
    id: goalId,
    title: content.title,
    description: content.description,
    status: 'active',
    published_run_spec: {
      id: runSpecId,
      version,
      input_schema: content.input_schema,
      result_schema: content.result_schema,
    },
  };
}
