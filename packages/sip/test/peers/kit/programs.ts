/** Programs that tests talk to: started with a folder of their own, ended with the test. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/** True, and says so, when one of these is not installed: the tests that need it are skipped. */
export function isMissing(packages: Readonly<Record<string, string>>): boolean {
  const missing = Object.entries(packages).filter(
    ([program]) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error !== undefined,
  );
  for (const [program, name] of missing) {
    process.stderr.write(`SKIPPED: the tests against ${program}. To run them: apt-get install -y ${name}\n`);
  }
  return missing.length > 0;
}

export interface Program extends AsyncDisposable {
  /** Resolves to the exit code; null when a signal ended it. */
  readonly done: Promise<number | null>;
  /** What it said so far, on both channels. */
  output(): string;
}

export interface ProgramOptions {
  /** It becomes the working folder. */
  readonly folder: string;
}

const KILL_AFTER_MS = 3_000;

/** How to kill what still runs when this process ends. */
const running = new Set<() => void>();
process.once('exit', () => {
  for (const kill of running) kill();
});

/** Starts a program in a process group of its own, which ends when it is disposed of, or with the test. */
export function startProgram(command: string, args: readonly string[], options: ProgramOptions): Program {
  const child = spawn(command, args, {
    cwd: options.folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TERM: 'dumb', HOME: options.folder },
  });
  let output = '';
  for (const channel of [child.stdout, child.stderr]) {
    channel.on('data', (bytes: Buffer) => (output = (output + bytes.toString()).slice(-20_000)));
  }
  const signal = (name: 'SIGTERM' | 'SIGKILL'): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, name);
    } catch {
      // It has gone already.
    }
  };
  const kill = (): void => signal('SIGKILL');
  running.add(kill);
  const done = once(child, 'close').then(([code]) => {
    running.delete(kill);
    return code as number | null;
  });
  return {
    done,
    output: () => output,
    async [Symbol.asyncDispose]() {
      signal('SIGTERM');
      const limit = setTimeout(kill, KILL_AFTER_MS);
      await done;
      clearTimeout(limit);
    },
  };
}

export interface Folder extends AsyncDisposable {
  readonly path: string;
  write(name: string, text: string | Buffer): Promise<string>;
}

/** A folder for configuration and recordings, removed with everything in it. */
export async function openFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'trunkcall-peer-'));
  return {
    path,
    async write(name, text) {
      const file = join(path, name);
      await writeFile(file, text);
      return file;
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Waits until `ready` says so. Throws, with what the program said, when it ends before or takes over 15 s. */
export async function untilReady(
  program: Program,
  what: string,
  ready: () => boolean | Promise<boolean>,
): Promise<void> {
  let over = false;
  void program.done.then(() => (over = true));
  const end = performance.now() + 15_000;
  while (!(await ready())) {
    if (over || performance.now() > end) throw new Error(`${what} did not start: ${program.output()}`);
    await wait(20);
  }
}
