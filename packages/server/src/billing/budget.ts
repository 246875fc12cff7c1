/** How far a month has come by its budget. Pure. */
import type { Micros } from '../platform/money.ts';

/** Shares of a budget, in per cent, that people are told of. */
const thresholds = [80, 100] as const;
export type Threshold = (typeof thresholds)[number];

/** Whole per cent of the budget, rounded down: 100 is there when the budget is. */
export const percentOf = (used: Micros, budget: Micros): number => Number((used * 100n) / budget);

/** The thresholds that were reached and that nobody was told of yet, lowest first. */
export const newlyReached = (used: Micros, budget: Micros, toldPercent: number): Threshold[] =>
  thresholds.filter((threshold) => threshold > toldPercent && percentOf(used, budget) >= threshold);

/** The highest threshold that was reached; null below all. */
export const reachedThreshold = (used: Micros, budget: Micros): Threshold | null =>
  newlyReached(used, budget, 0).at(-1) ?? null;

/** The first day of the month (UTC) of a time in Unix milliseconds, `YYYY-MM-01`. */
export const monthOf = (unixMs: number): string => `${new Date(unixMs).toISOString().slice(0, 7)}-01`;
