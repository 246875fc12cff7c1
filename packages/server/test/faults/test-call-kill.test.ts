/** A test call whose worker is killed while the phone rings: two processes on PostgreSQL. */
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorClient } from '@trunkcall/sdk';
import { afterEach, expect, it } from 'vitest';
import { statement } from '../../src/storage/database.ts';
import { freshDatabase } from '../kit/database.ts';
import { until } from '../kit/until.ts';
import { startProcess } from './process.ts';

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** As if its lease had run out. */
const loseLease = statement<never>(
  'test_lose_test_call_lease',
  `update test_calls set leased_until = now() - interval '1 second' where state = 'calling'`,
);

it(
  'a test call is placed once, though its worker is killed and another takes over',
  { timeout: 90_000 },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'trunkcall-test-call-'));
    cleanUp.push(() => rmSync(directory, { recursive: true, force: true }));
    const database = await freshDatabase('postgres');
    cleanUp.push(() => database.close());
    const witness = join(directory, 'dialled');
    const start = async (roles: string) => {
      const running = await startProcess(directory, {
        DIAL_WITNESS: witness,
        TRUNKCALL_DATABASE_URL: database.url ?? '',
        TRUNKCALL_ROLES: roles,
        TRUNKCALL_SIMULATION_SPEED: '1',
      });
      cleanUp.push(() => running.process.kill('SIGKILL'));
      return running;
    };
    const { url, credentials } = await start('api');
    const worker = await start('worker');
    const operator = new OperatorClient({ baseUrl: url, operatorToken: credentials.operator_token });

    // Rings until the limit.
    const { id } = await operator.testTrunk('simulated', { phone: '+12025550101' });
    const look = () => operator.getTestCall(id);
    await until(() => existsSync(witness), 'the call');
    await expect.poll(async () => (await look()).steps.length, { timeout: 10_000 }).toBeGreaterThan(1);
    worker.process.kill('SIGKILL');
    await once(worker.process, 'exit');
    await start('worker');
    await expect.poll(async () => (await operator.listWorkers()).data.length, { timeout: 10_000 }).toBe(3);
    expect(await look()).toMatchObject({ state: 'calling' });
    await database.db.query(loseLease);
    await expect.poll(async () => (await look()).state, { timeout: 10_000 }).toBe('ended');
    expect(await look()).toMatchObject({ outcome: 'worker_lost' });
    // The trunk is free again, and the one call left once.
    const next = await operator.testTrunk('simulated', { phone: '+12025550102' });
    await expect
      .poll(async () => (await operator.getTestCall(next.id)).outcome, { timeout: 10_000 })
      .toBe('busy');
    expect(readFileSync(witness, 'utf8').trim().split('\n')).toEqual(['+12025550101', '+12025550102']);
  },
);
