/** Starts the service as a process of its own, on any free port. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Credentials } from '@trunkcall/contract';
import { expect } from 'vitest';

const program = fileURLToPath(new URL('service-process.ts', import.meta.url));

export interface Running {
  readonly process: ChildProcess;
  readonly credentials: Required<Credentials>;
  readonly url: string;
}

/** Starts it and waits until it listens: it must need no hand after any end. */
export async function startProcess(
  dataDir: string,
  settings: Readonly<Record<string, string>>,
): Promise<Running> {
  const child = spawn(process.execPath, [program], {
    env: {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
      TRUNKCALL_DATA_DIR: dataDir,
      TRUNKCALL_PORT: '0',
      TRUNKCALL_LOG_LEVEL: 'fatal',
      TRUNKCALL_RATE_LIMIT_PER_SECOND: '100000',
      TRUNKCALL_RATE_LIMIT_BURST: '100000',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout });
  const [url] = (await Promise.race([
    once(lines, 'line'),
    once(child, 'exit').then(() => Promise.reject(new Error('the service did not start'))),
  ])) as [string];
  const path = join(dataDir, 'credentials.json');
  expect(existsSync(path)).toBe(true);
  return {
    process: child,
    url,
    credentials: JSON.parse(readFileSync(path, 'utf8')) as Required<Credentials>,
  };
}
