/**
 * The beat of all calls: one timer, every 20 ms, whose error does not add up. `setInterval` runs some percent slow,
 * because each period begins when the last one was served; here every tick has its place on a grid.
 *
 * After a stall the ticks that were missed are skipped, not caught up: a burst of old audio would only overflow
 * the jitter buffers of all peers at once.
 */

import type { Clock, Timer } from '../clock.ts';
import { FRAME_MS } from './g711.ts';

/** Calls `beat(skipped)` on a grid of 20 ms until it is stopped; `skipped` counts the ticks that were missed before this one. */
export function startPace(clock: Clock, beat: (skipped: number) => void): { stop(): void } {
  const origin = clock.now();
  let last = 0;
  let timer: Timer;
  let stopped = false;
  const schedule = (): void => {
    timer = clock.setTimer(Math.max(0, origin + (last + 1) * FRAME_MS - clock.now()), wake);
  };
  const wake = (): void => {
    // Timers may fire a fraction of a millisecond early; the tick counts as reached then.
    const reached = Math.floor((clock.now() - origin + 1) / FRAME_MS);
    const skipped = reached - last - 1;
    if (skipped >= 0) {
      last = reached;
      beat(skipped);
    }
    if (!stopped) schedule();
  };
  schedule();
  return {
    stop() {
      stopped = true;
      timer.cancel();
    },
  };
}
