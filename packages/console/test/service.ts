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
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
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

/** A Goal that asks for nothing before it answers, published by the operator API. Ends with its id. */
export async function newAnsweringGoal({ origin, credentials }: RunningService): Promise<string> {
  const { operator_token: token, account } = credentials;
  const post = async (path: string, body?: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const sent = { method: 'POST', headers, ...(body === undefined ? {} : { body }) };
    const response = await fetch(`${origin}/operator/v1${path}`, sent);
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as { id: string };
  };
  const closed = { type: 'object', additionalProperties: false } as const;
  const file = {
    format: 1,
    title: 'Deliveries by telephone',
    description: 'Takes the wishes of people who call about a delivery.',
    instructions: 'Find out whether the delivery suits.',
    voice: { region: 'US', name: 'default' },
    locale: 'en-US',
    targets: { countries: ['US'] },
    input_schema: { ...closed, properties: {}, required: [] },
    result_schema: {
      ...closed,
      properties: { suits: { type: 'boolean', description: 'Does the delivery suit you?' } },
      required: ['suits'],
    },
    agent: { kind: 'scripted' },
    limits: { ring_seconds: 30, call_seconds: 120 },
    machine: 'hang_up',
  };
  const { id } = await post(`/goals?account=${encodeURIComponent(account)}`, JSON.stringify(file));
  await post(`/goals/${id}/publish`);
  return id;
}
