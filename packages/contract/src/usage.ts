/**
 * What calls would cost by the preview table of prices, as the operator API, the console and the CLI show it. Nothing is
 * charged by it. Amounts are decimal texts in US dollars, exact, with four to six decimals.
 */

import { Type } from 'typebox';
import { enumeration } from './enumeration.ts';
import { directions } from './goal-file.ts';
import { nullable } from './schemas.ts';
import type { Shape } from './shape.ts';

const closed = { additionalProperties: false } as const;

/** Stands with every amount that is shown. */
export const usageNotice = 'Preview of prices; nothing is charged.';

export const usageGroupings = ['day', 'goal', 'call'] as const;
export type UsageGrouping = (typeof usageGroupings)[number];

export const UsageAmounts = Type.Object(
  {
    attempts: Type.Integer({ description: 'That have ended, answered or not.' }),
    answered: Type.Integer(),
    answered_seconds: Type.Number({ description: 'From the answers to the ends, together.' }),
    model_periods: Type.Integer({ description: 'Started periods of 10 s.' }),
    model: Type.String(),
    carrier: Type.String({ description: 'Without that of the attempts in `carrier_unknown`.' }),
    carrier_unknown: Type.Integer({
      description: 'Attempts to numbers for which there is no rate: their carrier fee is in no sum.',
    }),
    success: Type.String({ description: 'Fully waived: always zero.' }),
    total: Type.String({ description: 'At least so much, when there are attempts in `carrier_unknown`.' }),
  },
  { ...closed, $id: 'UsageAmounts' },
);
export type UsageAmounts = Shape<typeof UsageAmounts>;

/** What every answer about usage says of itself. */
const preview = {
  preview: Type.Literal(true),
  charged: Type.Literal(false),
  notice: Type.Literal(usageNotice),
  currency: Type.Literal('USD'),
  from: Type.String({ format: 'date', description: 'First day, UTC.' }),
  to: Type.String({ format: 'date', description: 'Last day, UTC.' }),
  totals: UsageAmounts,
} as const;

export const UsageDay = Type.Object(
  {
    ...UsageAmounts.properties,
    day: Type.String({
      format: 'date',
      description: 'On which the attempts ended, UTC; days without any are left out.',
    }),
  },
  { ...closed, $id: 'UsageDay' },
);
export type UsageDay = Shape<typeof UsageDay>;

export const UsageGoal = Type.Object(
  {
    ...UsageAmounts.properties,
    goal_id: nullable(Type.String(), 'Null: the calls without a Goal.'),
    title: nullable(Type.String(), 'Of the draft.'),
  },
  { ...closed, $id: 'UsageGoal' },
);
export type UsageGoal = Shape<typeof UsageGoal>;

export const UsageCall = Type.Object(
  {
    id: Type.String({ description: 'Of the attempt.' }),
    run_id: Type.String(),
    goal_run_id: nullable(Type.String(), 'The public id of a Goal Run; null for a call without a Goal.'),
    goal_id: nullable(Type.String()),
    call_id: nullable(Type.String(), 'The call task or one-shot call; null for a Goal Run.'),
    mode: enumeration(['goal', 'one_shot'], { description: 'Call tasks are one-shot calls here.' }),
    direction: enumeration(directions),
    country: nullable(Type.String(), "Of the other side's number, ISO 3166-1 alpha-2."),
    domestic: Type.Boolean({ description: 'The United States or Canada.' }),
    day: Type.String({ format: 'date', description: 'On which it ended, UTC.' }),
    answered_seconds: nullable(Type.Number(), 'Null: nobody answered.'),
    model_periods: Type.Integer(),
    model_per_period: Type.String(),
    model: Type.String(),
    carrier_seconds: nullable(
      Type.Integer(),
      'What the carrier bills; null when there is no rate, or nobody answered.',
    ),
    carrier_per_minute: nullable(Type.String()),
    carrier_increments: nullable(Type.String(), 'First and next increment in seconds, such as `60/60`.'),
    carrier: nullable(Type.String(), 'Null: unknown, because there is no rate.'),
    success: Type.String(),
    total: nullable(Type.String(), 'Null with `carrier`.'),
  },
  {
    ...closed,
    $id: 'UsageCall',
    description: 'One attempt, with the prices of the time when it was counted.',
  },
);
export type UsageCall = Shape<typeof UsageCall>;

export const UsageBudget = Type.Object(
  {
    monthly: nullable(Type.String(), 'Null: none.'),
    month: Type.String({ description: '`YYYY-MM`.' }),
    used: Type.String(),
    carrier_unknown: Type.Integer({
      description: 'Attempts of the month whose carrier fee is not in `used`.',
    }),
    percent: nullable(Type.Integer(), 'Whole per cent, rounded down; null without a budget.'),
    reached: Type.Union([Type.Literal(80), Type.Literal(100), Type.Null()], {
      description: 'The highest threshold that was reached.',
    }),
  },
  {
    ...closed,
    $id: 'UsageBudget',
    description: "How far the month (UTC) has come by the account's budget, whatever days were asked for.",
  },
);
export type UsageBudget = Shape<typeof UsageBudget>;

const accountUsage = {
  object: Type.Literal('usage'),
  ...preview,
  account_id: Type.String(),
  budget: UsageBudget,
  next_cursor: nullable(Type.String(), 'Of calls; else null. Pass it as `after` for the next page.'),
} as const;

export const UsageByDay = Type.Object(
  { ...accountUsage, by: Type.Literal('day'), data: Type.Array(UsageDay) },
  { ...closed, $id: 'UsageByDay' },
);
export type UsageByDay = Shape<typeof UsageByDay>;

export const UsageByGoal = Type.Object(
  { ...accountUsage, by: Type.Literal('goal'), data: Type.Array(UsageGoal) },
  { ...closed, $id: 'UsageByGoal' },
);
export type UsageByGoal = Shape<typeof UsageByGoal>;

export const UsageByCall = Type.Object(
  { ...accountUsage, by: Type.Literal('call'), data: Type.Array(UsageCall) },
  { ...closed, $id: 'UsageByCall' },
);
export type UsageByCall = Shape<typeof UsageByCall>;

export const Usage = Type.Union([UsageByDay, UsageByGoal, UsageByCall], { description: 'As `by` asks.' });
export type Usage = Shape<typeof Usage>;

export const AccountTotals = Type.Object(
  {
    ...UsageAmounts.properties,
    account_id: Type.String(),
    name: Type.String(),
  },
  { ...closed, $id: 'AccountTotals' },
);
export type AccountTotals = Shape<typeof AccountTotals>;

export const DeploymentUsage = Type.Object(
  {
    ...preview,
    object: Type.Literal('usage'),
    by: Type.Literal('account'),
    data: Type.Array(AccountTotals, { description: 'By name.' }),
  },
  { ...closed, $id: 'DeploymentUsage', description: 'All accounts.' },
);
export type DeploymentUsage = Shape<typeof DeploymentUsage>;

export interface UsageDays {
  /** `YYYY-MM-DD`, UTC; the first of the month by default. */
  readonly from?: string;
  /** Today by default; at most 366 days. */
  readonly to?: string;
}

export interface UsageQuery extends UsageDays {
  readonly by?: UsageGrouping;
  /** Of calls: `next_cursor` of the page before. */
  readonly after?: string;
  /** Of calls: 1–100, 20 by default. */
  readonly limit?: number;
}
