/** Limits on trunks and on numbers that hold over all processes: the port that the SIP carrier needs for them. */

/** What a trunk may carry. */
export interface TrunkLimits {
  readonly trunk: string;
  readonly maxCalls: number;
  readonly callsPerSecond: number;
}

export type Taken =
  | { readonly kind: 'taken' }
  /** Every line is in use, or the next call may leave only after `inMs`. */
  | { readonly kind: 'later'; readonly inMs: number };

/** What is limited per day (UTC). */
export interface DailyLimits {
  readonly callsPerNumber: number;
  readonly callsPerAccount: number;
  /** In millionths of the trunks' currency; null: no cap. */
  readonly spendPerAccount: bigint | null;
}

/** Every method throws when the limits can not be asked; then nothing was taken. */
export interface TrunkSlots {
  /** Makes the trunks' lines known; their numbers may have changed. Safe to repeat. */
  prepare(trunks: readonly TrunkLimits[]): Promise<void>;
  /**
   * Takes a line of the trunk and its turn to call, waiting for the turn when it is near. The line comes back by
   * itself after a minute unless it is renewed, so a process that dies gives its lines back.
   */
  take(limits: TrunkLimits, attemptId: string, signal: AbortSignal): Promise<Taken>;
  /** Keeps the lines of these attempts for another minute. */
  renew(attemptIds: readonly string[]): Promise<void>;
  release(attemptId: string): Promise<void>;
  /** Counts a call against the day's limits; false, and nothing is counted, when one of them is reached. */
  countCall(accountId: string, phone: string, limits: DailyLimits): Promise<boolean>;
  /** Counts a call that left over the trunk, with what it cost, in millionths of the trunks' currency. */
  countTrunkCall(trunk: string, cost: bigint): Promise<void>;
  /** Adds the cost of a call that has ended, in millionths of the trunks' currency. */
  addCost(accountId: string, cost: bigint): Promise<void>;
}

/** Lines must be renewed this often, milliseconds. */
export const renewEveryMs = 20_000;
