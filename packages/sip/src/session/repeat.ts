import type { Stack } from '../dialog/stack.ts';
import { giveUpMs } from '../transaction/machine.ts';

export interface Repetition {
  stop(): void;
}

/**
 * Calls `send` after T1, then at intervals that double up to `longestMs`, until it is stopped or 64·T1 have
 * passed: then `onGiveUp` is called once. The first sending is the caller's. For responses that want an
 * acknowledgement above the transaction layer: 2xx to INVITE (RFC 3261 §13.3.1.4) and reliable provisional
 * ones (RFC 3262 §3).
 */
export function repeatUntilStopped(
  stack: Stack,
  longestMs: number,
  send: () => void,
  onGiveUp: () => void,
): Repetition {
  const { clock, timers } = stack;
  let intervalMs = timers.t1Ms;
  let repeating = clock.setTimer(intervalMs, again);
  const limit = clock.setTimer(giveUpMs(timers), () => {
    stop();
    onGiveUp();
  });
  function again(): void {
    intervalMs = Math.min(intervalMs * 2, longestMs);
    repeating = clock.setTimer(intervalMs, again);
    send();
  }
  function stop(): void {
    repeating.cancel();
    limit.cancel();
  }
  return { stop };
}
