/** Rows of usage as they are shown: amounts become decimal texts. */
import {
  usageNotice,
  type AccountTotals,
  type UsageAmounts,
  type UsageBudget,
  type UsageCall,
  type UsageDay,
  type UsageGoal,
} from '@trunkcall/contract';
import { percentOf, reachedThreshold } from '../../billing/budget.ts';
import { formatAmount } from '../../platform/money.ts';
import type { UsageRow, UsageSums } from '../../storage/usage.ts';
import type { CsvCell } from '../csv.ts';

/** There is a success fee, and it is fully waived. */
const success = formatAmount(0n);

export function amountsView(sums: UsageSums): UsageAmounts {
  const [model, carrier] = [BigInt(sums.model_amount), BigInt(sums.carrier_amount)];
  return {
    attempts: sums.attempts,
    answered: sums.answered,
    answered_seconds: sums.answered_ms / 1_000,
    model_periods: sums.model_periods,
    model: formatAmount(model),
    carrier: formatAmount(carrier),
    carrier_unknown: sums.carrier_unknown,
    success,
    total: formatAmount(model + carrier),
  };
}

export function callUsageView(row: UsageRow): UsageCall {
  const { carrier_amount: carrier, carrier_per_minute: perMinute, answered_ms: answeredMs } = row;
  return {
    id: row.attempt_id,
    run_id: row.run_id,
    goal_run_id: row.public_id,
    goal_id: row.goal_id,
    call_id: row.call_id,
    mode: row.mode,
    direction: row.direction,
    country: row.country,
    domestic: row.domestic,
    day: row.day,
    answered_seconds: answeredMs === null ? null : answeredMs / 1_000,
    model_periods: row.model_periods,
    model_per_period: formatAmount(BigInt(row.model_per_period)),
    model: formatAmount(BigInt(row.model_amount)),
    carrier_seconds: row.carrier_seconds,
    carrier_per_minute: perMinute === null ? null : formatAmount(BigInt(perMinute)),
    carrier_increments: row.carrier_increments,
    carrier: carrier === null ? null : formatAmount(BigInt(carrier)),
    success,
    total: carrier === null ? null : formatAmount(BigInt(row.model_amount) + BigInt(carrier)),
  };
}

/** What the attempts of one run would cost together; null while none of them is counted. */
export function runCost(rows: readonly UsageRow[]): UsageAmounts | null {
  if (rows.length === 0) return null;
  const sum = (part: (row: UsageRow) => bigint) => rows.reduce((total, row) => total + part(row), 0n);
  return amountsView({
    attempts: rows.length,
    answered: rows.filter(({ answered_ms }) => answered_ms !== null).length,
    answered_ms: Number(sum((row) => BigInt(row.answered_ms ?? 0))),
    model_periods: Number(sum((row) => BigInt(row.model_periods))),
    model_amount: sum((row) => BigInt(row.model_amount)).toString(),
    carrier_amount: sum((row) => BigInt(row.carrier_amount ?? 0)).toString(),
    carrier_unknown: rows.filter(({ carrier_amount }) => carrier_amount === null).length,
  });
}

/** `month` is its first day; amounts are millionths of a US dollar. */
export function budgetView(
  month: string,
  budget: string | null,
  used: { readonly amount: string; readonly unknown: number } = { amount: '0', unknown: 0 },
): UsageBudget {
  const amounts = budget === null ? null : ([BigInt(used.amount), BigInt(budget)] as const);
  return {
    monthly: budget === null ? null : formatAmount(BigInt(budget)),
    month: month.slice(0, 7),
    used: formatAmount(BigInt(used.amount)),
    carrier_unknown: used.unknown,
    percent: amounts === null ? null : percentOf(...amounts),
    reached: amounts === null ? null : reachedThreshold(...amounts),
  };
}

/** A line of names, and what stands below it for each item. */
export interface Sheet<Item> {
  readonly names: readonly string[];
  readonly cells: (item: Item) => readonly CsvCell[];
}

const amountNames = [
  'attempts',
  'answered',
  'answered_seconds',
  'model_periods',
  'model',
  'carrier',
  'carrier_unknown',
  'success',
  'total',
] as const satisfies readonly (keyof UsageAmounts)[];
const callNames = [
  'id',
  'day',
  'goal_run_id',
  'goal_id',
  'call_id',
  'run_id',
  'mode',
  'direction',
  'country',
  'domestic',
  'answered_seconds',
  'model_periods',
  'model_per_period',
  'model',
  'carrier_seconds',
  'carrier_per_minute',
  'carrier_increments',
  'carrier',
  'success',
  'total',
] as const satisfies readonly (keyof UsageCall)[];

/** Every line says what its amounts are. */
function sheet<Item, Name extends string & keyof Item>(
  names: readonly Name[],
  cell: (item: Item, name: Name) => CsvCell,
): Sheet<Item> {
  return {
    names: [...names, 'currency', 'notice'],
    cells: (item) => [...names.map((name) => cell(item, name)), 'USD', usageNotice],
  };
}

export const daySheet = sheet<UsageDay, keyof UsageDay>(['day', ...amountNames], (item, name) => item[name]);
export const goalSheet = sheet<UsageGoal, keyof UsageGoal>(
  ['goal_id', 'title', ...amountNames],
  (item, name) => item[name],
);
export const accountSheet = sheet<AccountTotals, keyof AccountTotals>(
  ['account_id', 'name', ...amountNames],
  (item, name) => item[name],
);
/** What is not known is never an empty cell, which a sum would take for zero. */
export const callSheet = sheet<UsageCall, keyof UsageCall>(callNames, (item, name) =>
  name === 'carrier' || name === 'total' ? (item[name] ?? 'unknown') : item[name],
);
