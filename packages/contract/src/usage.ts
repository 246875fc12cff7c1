/**
 * What calls would cost by the preview table of prices, as the operator API, the console and the CLI show it. Nothing is
 * charged by it. Amounts are decimal texts in US dollars, exact, with four to six decimals.
 */

/** Stands with every amount that is shown. */
export const usageNotice = 'Preview of prices; nothing is charged.';

export const usageGroupings = ['day', 'goal', 'call'] as const;
export type UsageGrouping = (typeof usageGroupings)[number];

export interface UsageAmounts {
  /** That have ended, answered or not. */
  readonly attempts: number;
  readonly answered: number;
  /** From the answers to the ends, together. */
  readonly answered_seconds: number;
  /** Started periods of 10 s. */
  readonly model_periods: number;
  readonly model: string;
  /** Without that of the attempts in `carrier_unknown`. */
  readonly carrier: string;
  /** Attempts to numbers for which there is no rate: their carrier fee is in no sum. */
  readonly carrier_unknown: number;
  /** Fully waived: always zero. */
  readonly success: string;
  /** At least so much, when there are attempts in `carrier_unknown`. */
  readonly total: string;
}

interface Preview {
  readonly preview: true;
  readonly charged: false;
  readonly notice: typeof usageNotice;
  readonly currency: 'USD';
  /** First and last day, UTC. */
  readonly from: string;
  readonly to: string;
  readonly totals: UsageAmounts;
}

export interface UsageDay extends UsageAmounts {
  /** On which the attempts ended, UTC; days without any are left out. */
  readonly day: string;
}

export interface UsageGoal extends UsageAmounts {
  /** Null: the calls without a Goal. */
  readonly goal_id: string | null;
  /** Of the draft. */
  readonly title: string | null;
}

/** One attempt, with the prices of the time when it was counted. */
export interface UsageCall {
  /** Of the attempt. */
  readonly id: string;
  readonly run_id: string;
  /** The public id of a Goal Run; null for a call without a Goal. */
  readonly goal_run_id: string | null;
  readonly goal_id: string | null;
  /** The call task or one-shot call; null for a Goal Run. */
  readonly call_id: string | null;
  /** Call tasks are one-shot calls here. */
  readonly mode: 'goal' | 'one_shot';
  readonly direction: 'outbound' | 'inbound';
  /** Of the other side's number, ISO 3166-1 alpha-2. */
  readonly country: string | null;
  /** The United States or Canada. */
  readonly domestic: boolean;
  readonly day: string;
  /** Null: nobody answered. */
  readonly answered_seconds: number | null;
  readonly model_periods: number;
  readonly model_per_period: string;
  readonly model: string;
  /** What the carrier bills; null when there is no rate, or nobody answered. */
  readonly carrier_seconds: number | null;
  readonly carrier_per_minute: string | null;
  /** First and next increment in seconds, such as `60/60`. */
  readonly carrier_increments: string | null;
  /** Null: unknown, because there is no rate. */
  readonly carrier: string | null;
  readonly success: string;
  /** Null with `carrier`. */
  readonly total: string | null;
}

/** How far the month (UTC) has come by the account's budget, whatever days were asked for. */
export interface UsageBudget {
  /** Null: none. */
  readonly monthly: string | null;
  /** `YYYY-MM`. */
  readonly month: string;
  readonly used: string;
  /** Attempts of the month whose carrier fee is not in `used`. */
  readonly carrier_unknown: number;
  /** Whole per cent, rounded down; null without a budget. */
  readonly percent: number | null;
  /** The highest threshold that was reached. */
  readonly reached: 80 | 100 | null;
}

interface AccountUsage<By extends UsageGrouping, Item> extends Preview {
  readonly object: 'usage';
  readonly account_id: string;
  readonly by: By;
  readonly budget: UsageBudget;
  readonly data: readonly Item[];
  /** Of calls; else null. Pass it as `after` for the next page. */
  readonly next_cursor: string | null;
}

export type UsageByDay = AccountUsage<'day', UsageDay>;
export type UsageByGoal = AccountUsage<'goal', UsageGoal>;
export type UsageByCall = AccountUsage<'call', UsageCall>;
export type Usage = UsageByDay | UsageByGoal | UsageByCall;

export interface AccountTotals extends UsageAmounts {
  readonly account_id: string;
  readonly name: string;
}

/** All accounts. */
export interface DeploymentUsage extends Preview {
  readonly object: 'usage';
  readonly by: 'account';
  /** By name. */
  readonly data: readonly AccountTotals[];
}

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
