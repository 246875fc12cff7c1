/**
 * The service as a process of its own, to be killed. Every call that leaves for the simulated network is first
 * written to the file in `DIAL_WITNESS`: a witness that does not depend on the database. Beside it, `.legs` tells of
 * answers and ends. `SIGUSR2` is a fault of the program.
 */
import { appendFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import type { Carrier } from '../../src/carriers/carrier.ts';
import { readConfig } from '../../src/config.ts';
import { endInOrder } from '../../src/ending.ts';
import { systemClock } from '../../src/platform/clock.ts';
import { createLog } from '../../src/platform/log.ts';
import { startService } from '../../src/service.ts';

const { DIAL_WITNESS: witness = '', ...env } = process.env;
const config = readConfig(env);
const log = createLog(config.logLevel);

const watchCarrier = (carrier: Carrier): Carrier => ({
  ...carrier,
  async place(order, watcher, signal) {
    appendFileSync(witness, `${order.to}\n`);
    const placed = await carrier.place(order, watcher, signal);
    if (placed.kind === 'answered') {
      appendFileSync(`${witness}.legs`, 'answered\n');
      void placed.leg.ended.then(() => appendFileSync(`${witness}.legs`, 'ended\n'));
    }
    return placed;
  },
});

const fatal = (error: unknown): never => {
  log.fatal({ err: error }, 'ended');
  process.exit(1);
};
startService(config, { log, onFatal: fatal, watchCarrier }).then((service) => {
  process.stdout.write(`${service.url}\n`);
  // Nobody who is killed leaves it for the next one.
  flushCompileCache();
  process.on('SIGUSR2', () => void Promise.reject(new Error('a promise that nobody waits for')));
  endInOrder({ program: process, clock: systemClock, log, stop: () => service.stop(), stopWithinMs: 30_000 });
}, fatal);
