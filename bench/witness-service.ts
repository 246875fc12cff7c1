/** The service with a carrier that notes, on the machine's monotonic clock, when each call leaves. */
import { appendFileSync } from 'node:fs';
import { readConfig } from '../packages/server/src/config.ts';
import { startService } from '../packages/server/src/service.ts';
import { createLog } from '../packages/server/src/platform/log.ts';

const { BENCH_WITNESS: witness = '', ...env } = process.env;
const config = readConfig(env);
const service = await startService(config, {
  log: createLog(config.logLevel),
  onFatal: () => process.exit(1),
  watchCarrier: (carrier) => ({
    ...carrier,
    place(order, watcher, signal) {
      appendFileSync(witness, `${process.hrtime.bigint()}\n`);
      return carrier.place(order, watcher, signal);
    },
  }),
});
process.stdout.write(`${service.url}\n`);
process.once('SIGTERM', () => void service.stop().then(() => process.exit(0)));
