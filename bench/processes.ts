/** Starts and stops what the benchmarks measure. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Credentials } from '@trunkcall/contract';
import type { LoadOrder, LoadReport } from './load-client.ts';

const run = promisify(execFile);
const programAt = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export interface Subject {
  readonly port: number;
  /** Stops the process and removes what it wrote. */
  stop(): Promise<void>;
}

export interface BenchService extends Subject {
  readonly credentials: Required<Credentials>;
}

/** Starts a program that prints a line with its `http://…:port` when it listens. */
async function startProgram(path: string, env: Readonly<Record<string, string>>): Promise<Subject> {
  const child = spawn(process.execPath, [programAt(path)], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error(`${path} did not start`))),
  ])) as [string];
  child.stdout.resume();
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  return {
    port: Number(/:(\d+)/.exec(line)?.[1]),
    async stop() {
      process.off('exit', end);
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}

/** A bare Node HTTP server that answers with a fixed body of a Goal Run's size. */
export const startHello = (): Promise<Subject> => startProgram('hello.ts', {});

/** The service; on the embedded database unless `env` names another. */
export async function startService(env: Readonly<Record<string, string>>): Promise<BenchService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'trunkcall-bench-'));
  const subject = await startProgram(env['BENCH_PROGRAM'] ?? '../packages/server/src/main.ts', {
    TRUNKCALL_DATA_DIR: dataDir,
    TRUNKCALL_PORT: '0',
    TRUNKCALL_LOG_LEVEL: 'warn',
    TRUNKCALL_RATE_LIMIT_PER_SECOND: '1000000',
    TRUNKCALL_RATE_LIMIT_BURST: '1000000',
    ...env,
  });
  const text = readFileSync(join(dataDir, 'credentials.json'), 'utf8');
  return {
    port: subject.port,
    credentials: JSON.parse(text) as Required<Credentials>,
    async stop() {
      await subject.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Runs the load client. */
export async function load(order: Omit<LoadOrder, 'host'>): Promise<LoadReport> {
  const full: LoadOrder = { host: '127.0.0.1', ...order };
  const { stdout } = await run(process.execPath, [programAt('load-client.ts'), JSON.stringify(full)]);
  return JSON.parse(stdout) as LoadReport;
}

/** Runs a pgbench script with prepared statements; transactions per second. */
export async function pgbench(
  url: string,
  script: string,
  clients: number,
  seconds: number,
): Promise<number> {
  const args = [
    '-n',
    '-M',
    'prepared',
    '-f',
    script,
    '-c',
    String(clients),
    '-j',
    '2',
    '-T',
    String(seconds),
    url,
  ];
  const { stdout } = await run('pgbench', args).catch((error: unknown) => {
    throw new Error('pgbench is needed: apt-get install postgresql-contrib', { cause: error });
  });
  return Number(/tps = ([\d.]+)/.exec(stdout)?.[1]);
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
