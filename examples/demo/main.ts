/**
 * The demonstration: starts Trunkcall with data of its own that it throws away, phones people through the public API,
 * shows what is said, and checks that every call ended as it should.
 *
 *   node examples/demo/main.ts [--sip[=host:port]] [--keep]
 *
 *   --sip    real SIP calls, to telephones on this machine or to the one at host:port, instead of simulated people
 *   --keep   goes on serving afterwards
 *
 * Exit code 0 only if every outcome is the expected one.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Credentials, GoalRun } from '@trunkcall/contract';
import { OperatorClient, Trunkcall } from '@trunkcall/sdk';
import { Listr } from 'listr2';
import type { Person } from './people.ts';
import { table, transcriptLines, type Outcome } from './report.ts';
import { simulatedWorld, sipWorld, type Access, type World } from './worlds.ts';

const serverProgram = fileURLToPath(new URL('../../packages/server/src/main.ts', import.meta.url));
const startLimitMs = 60_000;
/** Longer than the Goal lets a call last. */
const callLimitMs = 180_000;
const keep = process.argv.includes('--keep');
const sip = process.argv.find((argument) => /^--sip(=|$)/.test(argument));

interface Calls {
  readonly outcomes: (Outcome | undefined)[];
}

const dataDir = mkdtempSync(join(tmpdir(), 'trunkcall-demo-'));
const world = sip === undefined ? simulatedWorld : await sipWorld(dataDir, sip.split('=')[1] ?? null);
const server = spawn(process.execPath, [serverProgram], {
  env: {
    ...process.env,
    TRUNKCALL_DATA_DIR: dataDir,
    TRUNKCALL_PORT: '0',
    TRUNKCALL_LOG_LEVEL: 'warn',
    ...world.settings,
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
process.once('SIGINT', () => server.kill('SIGINT'));

try {
  await listening(server);
  const credentials = JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) as Credentials;
  const operator = new OperatorClient({
    operatorToken: credentials.operator_token,
    baseUrl: credentials.base_url,
  });
  const access = await world.access(credentials, operator);
  const client = new Trunkcall({ apiKey: access.apiKey, baseUrl: credentials.base_url });
  const outcomes = await phoneEverybody(world, access, client, operator);
  for (const line of outcomes.flatMap(transcriptLines)) console.log(line);
  console.log(table(outcomes));
  const wrong = outcomes.filter(({ asExpected }) => !asExpected);
  console.log(
    wrong.length === 0
      ? `All ${outcomes.length} calls ended as expected.`
      : `${wrong.length} of ${outcomes.length} calls did not end as expected: ${wrong.map(({ person }) => person.phone).join(', ')}`,
  );
  process.exitCode = wrong.length === 0 ? 0 : 1;
  if (keep) await serveOn(credentials.base_url, access);
} finally {
  await stopped(server);
  await world.close();
  rmSync(dataDir, { recursive: true, force: true });
}

/** Resolves when the service has said that it listens. Throws when it ends before, or takes too long. */
async function listening(service: ChildProcess): Promise<void> {
  const output = service.stdout;
  if (output === null) throw new Error('the service has no output');
  const tooLate = setTimeout(() => service.kill(), startLimitMs);
  try {
    for await (const line of createInterface({ input: output })) {
      if (line.startsWith('Trunkcall listens')) {
        console.log(line);
        output.resume();
        return;
      }
    }
  } finally {
    clearTimeout(tooLate);
  }
  throw new Error('the service did not start');
}

/** Calls all at once, and shows each call as it goes: a view in a terminal, plain lines elsewhere. */
async function phoneEverybody(
  { people }: World,
  { goals }: Access,
  client: Trunkcall,
  operator: OperatorClient,
): Promise<Outcome[]> {
  const tasks = new Listr<Calls>(
    people.map((person, index) => ({
      title: `${person.phone}  ${person.name}`,
      rendererOptions: { bottomBar: false, persistentOutput: true },
      task: async (calls, task) => {
        const goalId = goals[person.goal];
        if (goalId === undefined) throw new Error(`the Goal ${person.goal} was not published`);
        // Lines of eight calls come mixed where there is no terminal: each names its number.
        calls.outcomes[index] = await phone(client, operator, goalId, person, (line) => {
          task.output = `${person.phone.slice(-4)}  ${line}`;
        });
      },
    })),
    {
      concurrent: true,
      ctx: { outcomes: [] },
      fallbackRenderer: 'simple',
      fallbackRendererCondition: () => !process.stdout.isTTY,
    },
  );
  const { outcomes } = await tasks.run();
  return outcomes.filter((outcome) => outcome !== undefined);
}

async function phone(
  client: Trunkcall,
  operator: OperatorClient,
  goalId: string,
  person: Person,
  show: (line: string) => void,
): Promise<Outcome> {
  const signal = AbortSignal.timeout(callLimitMs);
  const startedAt = performance.now();
  const { run: created } = await client.createRun(goalId, person, { signal });
  for await (const progress of operator.watchRun(created.id, { signal })) {
    for (const event of progress.events) {
      if (event.type === 'call.ringing') show('ringing');
    }
    for (const turn of progress.turns) show(`${turn.speaker === 'bot' ? 'agent' : 'callee'}: ${turn.text}`);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  const run = await client.getRun(goalId, created.id, { signal });
  const { transcript } = await operator.getRun(created.id, { signal });
  show(run.error === null ? 'result is there' : `${run.error.code} (${run.error.detail_code ?? ''})`);
  const asExpected = isAsExpected(person, run);
  return { person, run, transcript, seconds, asExpected };
}

function isAsExpected({ expect }: Person, { result, error }: GoalRun): boolean {
  if (expect === 'any') return true;
  if (expect === 'result') return result !== null;
  return error?.code === expect.error && error.detail_code === expect.detail;
}

async function serveOn(url: string, { apiKey, goals }: Access): Promise<void> {
  console.log(`\nStill serving on ${url}; Ctrl-C ends it.`);
  console.log(`API key: ${apiKey}\nGoals:   ${JSON.stringify(goals)}`);
  await ended(server);
}

function ended(service: ChildProcess): Promise<void> {
  if (service.exitCode !== null || service.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => service.once('exit', () => resolve()));
}

async function stopped(service: ChildProcess): Promise<void> {
  service.kill('SIGTERM');
  await ended(service);
}
