/** Goals in the operator API: their state, their versions, and what is wrong with a Goal file. */
import { Type } from 'typebox';
import { enumeration } from './enumeration.ts';
import { GoalFile } from './goal-file.ts';
import type { PageQuery } from './operator.ts';
import { nullable } from './schemas.ts';
import type { Shape } from './shape.ts';

const closed = { additionalProperties: false } as const;

export const GoalFileProblem = Type.Object(
  {
    pointer: Type.String({ description: 'RFC 6901 JSON pointer.' }),
    message: Type.String(),
    line: Type.Optional(
      Type.Integer({ description: 'Counts from 1; absent when a stored draft, not a text, was checked.' }),
    ),
    column: Type.Optional(Type.Integer()),
  },
  {
    ...closed,
    $id: 'GoalFileProblem',
    description: 'The place in the sent text where a Goal file is wrong, and what would be right.',
  },
);
export type GoalFileProblem = Shape<typeof GoalFileProblem>;

/** The last segment of `POST /operator/v1/goals/{goal_id}/{action}`. */
export const goalActions = [
  'publish',
  'unpublish',
  'pause',
  'resume',
  'retire',
  'hide',
  'list_publicly',
] as const;
export type GoalAction = (typeof goalActions)[number];

export const OperatorGoal = Type.Object(
  {
    id: Type.String(),
    account_id: Type.String(),
    title: Type.String({ description: 'Of the draft.' }),
    state: enumeration(['draft', 'active', 'paused', 'retired']),
    listed: Type.Boolean({ description: 'Whether API clients of the account see the Goal.' }),
    published_run_spec: nullable(Type.Object({ id: Type.String(), version: Type.Integer() }, closed)),
    latest_version: Type.Integer(),
    not_ready: Type.Array(Type.String(), {
      description:
        'Why the published content (the draft, when nothing is published) can not be executed here now.',
    }),
    created_at: Type.String({ format: 'date-time' }),
    updated_at: Type.String({ format: 'date-time' }),
  },
  { ...closed, $id: 'OperatorGoal' },
);
export type OperatorGoal = Shape<typeof OperatorGoal>;

export const OperatorGoalVersion = Type.Object(
  {
    id: Type.String(),
    version: Type.Integer(),
    published_at: Type.String({ format: 'date-time' }),
    runs: Type.Integer({ description: 'How many Runs are pinned to it.' }),
  },
  { ...closed, $id: 'OperatorGoalVersion' },
);
export type OperatorGoalVersion = Shape<typeof OperatorGoalVersion>;

export const OperatorGoalDetail = Type.Object(
  {
    ...OperatorGoal.properties,
    versions: Type.Array(OperatorGoalVersion, { description: 'Newest first.' }),
    draft: GoalFile,
  },
  { ...closed, $id: 'OperatorGoalDetail' },
);
export type OperatorGoalDetail = Shape<typeof OperatorGoalDetail>;

export interface ListGoalsQuery extends PageQuery {
  /** Id or name. */
  readonly account?: string;
}

export const GoalValidation = Type.Object(
  {
    problems: Type.Array(GoalFileProblem, { description: 'Empty for a valid file.' }),
    not_ready: Type.Array(Type.String(), { description: 'Why a valid file could not be executed here now.' }),
  },
  { ...closed, $id: 'GoalValidation', description: 'What is wrong with a Goal file.' },
);
export type GoalValidation = Shape<typeof GoalValidation>;
