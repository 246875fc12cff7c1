import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GoalRun } from '@trunkcall/contract';
import { expect, it } from 'vitest';
import { until } from '../kit/until.ts';
import { startProcess, type Running } from './process.ts';

const goalPath = ({ credentials }: Running) => `/v1/goals/${credentials.goals['confirm-delivery']}/runs`;

async function ask(
  service: Running,
  path: string,
  { key = 'one', ...init }: RequestInit & { readonly key?: string } = {},
): Promise<GoalRun> {
  const response = await fetch(`${service.url}${path}`, {
    ...init,
    headers: {
      authorization: `Bearer ${service.credentials.api_key}`,
      'idempotency-key': key,
      'content-type': 'application/json',
    },
  });
  return (await response.json()) as GoalRun;
}

it(
  'hangs up live calls in time when it is stopped, whatever a slow client does, and after a fault of its own',
  { timeout: 60_000 },
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'trunkcall-stop-'));
    const settings = {
      DIAL_WITNESS: join(dataDir, 'dialled'),
      TRUNKCALL_SIMULATION_SPEED: '1',
      TRUNKCALL_DRAIN_MS: '500',
    };
    const witnessOfLegs = `${settings.DIAL_WITNESS}.legs`;
    const service = await startProcess(dataDir, settings);
    const body = JSON.stringify({
      phone: '+12025550113',
      variables: { customer_name: 'Ada', order_reference: 'A-1' },
    });
    const { id } = await ask(service, goalPath(service), { method: 'POST', body });
    while ((await ask(service, `${goalPath(service)}/${id}`)).call_id === null)
      await new Promise(setImmediate);

    const { hostname, port } = new URL(service.url);
    const slow = connect(Number(port), hostname);
    slow.on('error', () => undefined);
    slow.write(
      `POST ${goalPath(service)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${service.credentials.api_key}\r\n` +
        'Content-Type: application/json\r\nIdempotency-Key: slow\r\nContent-Length: 100\r\n\r\n{"phone"',
    );
    const stoppedAt = performance.now();
    service.process.kill('SIGTERM');
    const [code] = (await once(service.process, 'exit')) as [number | null];
    expect(code).toBe(0);
    expect(performance.now() - stoppedAt).toBeLessThan(15_000);
    slow.destroy();

    const again = await startProcess(dataDir, settings);
    const run = await ask(again, `${goalPath(again)}/${id}`);
    expect(run).toMatchObject({
      status: 'failed',
      error: { code: 'call_failed', detail_code: 'worker_lost' },
    });

    const legs = () => (existsSync(witnessOfLegs) ? readFileSync(witnessOfLegs, 'utf8') : '');
    const before = legs();
    await ask(again, goalPath(again), { method: 'POST', body, key: 'two' });
    await until(() => legs() === `${before}answered\n`, 'the answer');
    again.process.kill('SIGUSR2');
    const [faultCode] = (await once(again.process, 'exit')) as [number | null];
    expect(faultCode).toBe(1);
    expect(legs()).toBe(`${before}answered\nended\n`);
    rmSync(dataDir, { recursive: true, force: true });
  },
);

it(
  'phones nobody when its port is taken, and leaves the Run to the next start',
  { timeout: 60_000 },
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'trunkcall-port-'));
    const witness = join(dataDir, 'dialled');
    const accepting = await startProcess(dataDir, { DIAL_WITNESS: witness, TRUNKCALL_ROLES: 'api' });
    const body = JSON.stringify({
      phone: '+12025550102',
      variables: { customer_name: 'Ada', order_reference: 'A-1' },
    });
    const { id } = await ask(accepting, goalPath(accepting), { method: 'POST', body });
    accepting.process.kill('SIGKILL');
    await once(accepting.process, 'exit');

    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const port = String((taken.address() as AddressInfo).port);
    const start = startProcess(dataDir, { DIAL_WITNESS: witness, TRUNKCALL_PORT: port });
    await expect(start).rejects.toThrow('did not start');
    expect(existsSync(witness)).toBe(false);
    taken.close();

    const again = await startProcess(dataDir, { DIAL_WITNESS: witness });
    const run = () => ask(again, `${goalPath(again)}/${id}`);
    while ((await run()).error === null) await new Promise(setImmediate);
    expect((await run()).error?.detail_code).toBe('busy');
    again.process.kill('SIGKILL');
    await once(again.process, 'exit');
    rmSync(dataDir, { recursive: true, force: true });
  },
);
