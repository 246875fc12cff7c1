/** A deliverer as a process of its own, to be killed. Prints a line when it has started. */
import { readFileSync } from 'node:fs';
import { systemClock } from '../../src/platform/clock.ts';
import { systemIds } from '../../src/platform/ids.ts';
import { createLog } from '../../src/platform/log.ts';
import { startDeliverer } from '../../src/publication/deliverer.ts';
import { createDestinations } from '../../src/publication/destination.ts';
import { openPostgres } from '../../src/storage/postgres.ts';

const { DATABASE_URL: url = '', ALLOW: allow = '', AUTHORITIES: file = '' } = process.env;

await startDeliverer({
  db: openPostgres({ url }),
  clock: systemClock,
  ids: systemIds(systemClock),
  log: createLog('fatal'),
  destinations: createDestinations({ allow: new Set([allow]), clock: systemClock, resolve: async () => [] }),
  settings: {
    headerPrefix: 'Trunkcall',
    authorities: readFileSync(file, 'utf8'),
    perReceiver: 16,
    retentionDays: 30,
    pollMs: 20,
    timeoutMs: 5_000,
    leaseGraceMs: 1_000,
  },
});
process.stdout.write('started\n');
