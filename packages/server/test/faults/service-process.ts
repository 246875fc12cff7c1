/**
 * The service as a process of its own, to be killed. Every call that leaves for the simulated network is first
 * written to the file in `DIAL_WITNESS`: a witness that does not depend on the database.
 */
import { appendFileSync } from 'node:fs';
import type { Carrier } from '../../src/carriers/carrier.ts';
import { readConfig } from '../../src/config.ts';
import { startService } from '../../src/service.ts';
import { createLog } from '../../src/platform/log.ts';

const { DIAL_WITNESS: witness = '', ...env } = process.env;
const config = readConfig(env);
const log = createLog(config.logLevel);

const watchCarrier = (carrier: Carrier): Carrier => ({
  ...carrier,
  place(order, watcher, signal) {
    appendFileSync(witness, `${order.to}\n`);
    return carrier.place(order, watcher, signal);
  },
});

const fatal = (error: unknown): never => {
  log.fatal({ err: error }, 'ended');
  process.exit(1);
};
startService(config, { log, onFatal: fatal, watchCarrier }).then((service) => {
  process.stdout.write(`${service.url}\n`);
  process.once('SIGTERM', () => void service.stop().then(() => process.exit(0)));
}, fatal);
