import type { RunRow } from '../storage/runs.ts';

/** A request to start a Goal Run, as far as HTTP could check it without the database. */
export interface RunRequest {
  readonly accountId: string;
  /** Regions whose Goals the key may run; null means all. */
  readonly regions: readonly string[] | null;
  readonly goalId: string;
  /** Trimmed, 1–255 code points. */
  readonly idempotencyKey: string;
  /** As sent; not yet checked. */
  readonly phone: string;
  readonly variables: SentVariables;
}

/**
 * `variables` as sent. Values that JSON can write but a Run can not carry (a duplicate key, a number that no
 * double holds, a lone surrogate) are a problem to be reported in its turn, after the key look-up.
 */
export type SentVariables =
  | { readonly ok: true; readonly values: Readonly<Record<string, unknown>> }
  | { readonly ok: false; readonly problem: string };

export interface Acceptance {
  /**
   * Accepts one Run durably (I1), once per key (I2), pinned (I3).
   *
   * Ends with the Run as it stands and whether it was there before. Throws: Refusal, in the order of checks of
   * the contract. Safe to repeat: yes.
   */
  readonly accept: (request: RunRequest) => Promise<{ readonly run: RunRow; readonly replayed: boolean }>;
}
