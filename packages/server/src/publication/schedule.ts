/**
 * When a delivery is tried, and what becomes of it after a try. Pure.
 *
 *     try    1     2     3       4       5     6     7      8
 *     after  0   5 s   5 min   30 min   2 h   5 h   10 h   10 h   since the try before, ± 10 %
 */
import type { Answer } from './post.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** The waits before the second try and those behind it, milliseconds. */
const retryWaitsMs: readonly number[] = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  10 * hour,
];
export const maxTries = retryWaitsMs.length + 1;

/** Share of a wait by which it may be shorter or longer, so that what failed together does not come back together. */
const jitter = 0.1;

/** A receiver may ask for more time than the schedule gives, up to the schedule's longest wait. */
const longestAskedMs = 10 * hour;

export type NextStep =
  | { readonly state: 'delivered' | 'failed' }
  | { readonly state: 'waiting'; readonly waitMs: number; readonly counts: boolean };

/**
 * Decides what follows a try. `tries` counts from 1; `random` is in [0, 1). A receiver that is gone (410) is not asked
 * again, and a try that our own stop has cut off does not count.
 */
export function nextStep(answer: Answer, tries: number, random: number): NextStep {
  if (answer.kind === 'unanswered' && answer.error === 'interrupted') {
    return { state: 'waiting', waitMs: 0, counts: false };
  }
  if (answer.kind === 'answered' && answer.status >= 200 && answer.status < 300)
    return { state: 'delivered' };
  const gone = answer.kind === 'answered' && answer.status === 410;
  const planned = retryWaitsMs[tries - 1];
  if (gone || planned === undefined) return { state: 'failed' };
  const asked = answer.kind === 'answered' ? (answer.retryAfterMs ?? 0) : 0;
  const waitMs = planned * (1 - jitter + 2 * jitter * random);
  return { state: 'waiting', waitMs: Math.max(waitMs, Math.min(asked, longestAskedMs)), counts: true };
}

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3): seconds or a date. Milliseconds from `nowMs`, not below 0; null when
 * it is neither.
 */
export function readRetryAfter(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * second;
  // The date forms all name a zone; `Date.parse` alone would also read `-5` or `2`.
  const time = /^[A-Z][a-z]{2,8},? .*(?:GMT|\d{4})$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : Math.max(0, time - nowMs);
}
