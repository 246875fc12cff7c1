import type { EventEmitter } from 'node:events';
import type { Clock } from './platform/clock.ts';
import type { Logger } from './platform/log.ts';
import { onlyOnce } from './platform/only-once.ts';

export interface Ending {
  /** What signals and faults come from, and what is ended. */
  readonly program: EventEmitter & { exit(code: number): void };
  readonly clock: Clock;
  readonly log: Logger;
  /** Ends what is under way. */
  readonly stop: () => Promise<void>;
  /** How long that may take, milliseconds. */
  readonly stopWithinMs: number;
}

/**
 * Ends the program when a signal or a fault says so, in order: nobody is left on the line. A second signal, or a stop that
 * takes too long, ends it at once. Exit code 0 after a stop that was asked for and that nothing disturbed, 1 otherwise.
 */
export function endInOrder({ program, clock, log, stop, stopWithinMs }: Ending): void {
  let exitCode = 0;
  const end = onlyOnce(async () => {
    void clock.sleep(stopWithinMs).then(() => {
      log.fatal('stopping took too long');
      program.exit(1);
    });
    await stop();
    program.exit(exitCode);
  });
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    program.on(event, (error: unknown) => {
      log.fatal({ err: error }, 'a fault of the program: stopping');
      exitCode = 1;
      void end();
    });
  }
  for (const signal of ['SIGTERM', 'SIGINT']) {
    program.once(signal, () => {
      // The second one means now.
      program.once(signal, () => program.exit(1));
      log.info({ signal }, 'stopping');
      void end();
    });
  }
}
