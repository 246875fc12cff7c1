/**
 * Time as the stack sees it. Every timer of every layer is set through one injected `Clock`, so a test can
 * run a half hour of session refreshes in a millisecond and count the timers that are left afterwards.
 */

export interface Timer {
  /** Stops the timer. Safe to repeat, also after it fired. */
  cancel(): void;
}

export interface Clock {
  /** Milliseconds that never run backwards; the origin means nothing. */
  now(): number;
  /** Calls `fire` once, not before `delayMs` milliseconds from now, never from inside `setTimer` itself. */
  setTimer(delayMs: number, fire: () => void): Timer;
}

/** Longest delay that Node's timers keep; beyond it they fire at once. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  setTimer(delayMs, fire) {
    const handle = setTimeout(fire, Math.min(delayMs, LONGEST_DELAY_MS));
    return { cancel: () => clearTimeout(handle) };
  },
};
