/** The service as a newcomer starts it, with data of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Credentials } from '@trunkcall/contract';

const program = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url));

export interface RunningService {
  readonly origin: string;
  /** Where the first person comes in, as the start printed it. */
  readonly firstLink: string;
  readonly credentials: Required<Credentials>;
  readonly dataDir: string;
  stop(): Promise<void>;
}

/** `settings` are further `TRUNKCALL_*` variables. */
export async function startService(settings: Readonly<Record<string, string>> = {}): Promise<RunningService> {
  const dataDir = mkdtempSync(join(tmpdir(), 'trunkcall-console-'));
  const child = spawn(process.execPath, [program], {
    env: {
      PATH: process.env['PATH'],
      TRUNKCALL_DATA_DIR: dataDir,
      TRUNKCALL_PORT: '0',
      TRUNKCALL_LOG_LEVEL: 'error',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const firstLink = /^Console: (\S+)/.exec(line)?.[1];
    if (firstLink === undefined) continue;
    child.stdout.resume();
    const credentials = JSON.parse(
      readFileSync(join(dataDir, 'credentials.json'), 'utf8'),
    ) as Required<Credentials>;
    return {
      origin: new URL(firstLink).origin,
      firstLink,
      credentials,
      dataDir,
      async stop() {
        child.kill('SIGTERM');
        if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
        rmSync(dataDir, { recursive: true, force: true });
      },
    };
  }
  rmSync(dataDir, { recursive: true, force: true });
  throw new Error('the service did not start');
}
