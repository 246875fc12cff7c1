/** The program: reads the environment and the command, and starts the service. Nothing else reads the environment. */
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { CalleeTest, Credentials, GoalTestOrder, GoalTestSummary } from '@trunkcall/contract';
import { agentsOf, chatsOf, extractorOf, openDatabase } from './adapters.ts';
import { WrongEnvironment } from './authoring/first-start.ts';
import { TrunkProblem } from './carriers/sip/trunks.ts';
import { ConfigError, readConfig, unknownVariables } from './config.ts';
import { CredentialsUnreadable } from './credentials.ts';
import { endInOrder } from './ending.ts';
import { createProviderKeys } from './platform/key-watch.ts';
import { createLog, type Logger } from './platform/log.ts';
import { systemClock } from './platform/clock.ts';
import { startService, type Service } from './service.ts';
import type { Config } from './settings.ts';
import { DatabaseUnavailable, type Database } from './storage/database.ts';
import { DirectoryInUse } from './storage/embedded-lock.ts';
import { migrate, SchemaMismatch } from './storage/migrate.ts';
import { ServerTooOld } from './storage/postgres.ts';
import { createGoalTester } from './rehearsal/test-goal.ts';
import { exportData, importData, TransferRefused } from './storage/transfer.ts';

/** Of the system (port, directory) and of PostgreSQL (wrong password or role: class 28; no such database: 3D000). */
const expectedCodes =
  /^(EADDRINUSE|EADDRNOTAVAIL|EACCES|EPERM|ENOTFOUND|EROFS|ENOSPC|ENOTDIR|EEXIST|EISDIR|ENOENT|28.{3}|3D000)$/;

/** Endings that need one line, not a stack. */
function isExpected(error: unknown): error is Error {
  const named = [
    ConfigError,
    CredentialsUnreadable,
    DirectoryInUse,
    ServerTooOld,
    SchemaMismatch,
    WrongEnvironment,
    DatabaseUnavailable,
    TransferRefused,
    TrunkProblem,
  ];
  if (named.some((kind) => error instanceof kind)) return true;
  return error instanceof Error && 'code' in error && expectedCodes.test(String(error.code));
}

/** Prints why the program can not go on, and ends it. */
function giveUp(error: unknown): never {
  const text = isExpected(error) ? describe(error) : error instanceof Error ? error.stack : String(error);
  process.stderr.write(`trunkcall: ${text}\n`);
  process.exit(1);
}

/** Opens the database of the settings for a command that needs nothing else of the service. */
async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
  try {
    const config = readConfig(process.env);
    const db = await openDatabase(config, createLog('warn'), giveUp);
    try {
      await migrate(db);
      return await work(db);
    } finally {
      await db.close();
    }
  } catch (error) {
    return giveUp(error);
  }
}

/** Writes all data of the settings' database to standard output, as JSON lines. The service must not be running. */
export async function exportToStdout(): Promise<void> {
  const rows = await withDatabase((db) =>
    exportData(db, async (line) => {
      if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
    }),
  );
  process.stderr.write(`exported ${rows} rows\n`);
}

/** Begins to read with the first line that is asked for: what arrived before would be lost. */
async function* linesOf(input: NodeJS.ReadableStream): AsyncGenerator<string> {
  yield* createInterface({ input });
}

/** Takes the lines of `exportToStdout` from standard input into the settings' database, which must be empty. */
export async function importFromStdin(): Promise<void> {
  const rows = await withDatabase((db) => importData(db, linesOf(process.stdin)));
  process.stderr.write(`imported ${rows} rows\n`);
}

/**
 * Tests a Goal in this process, with the agents and the chat model of the settings: no database, no port, nobody phoned.
 * Throws: ConfigError, and what `prepare` refuses.
 */
export async function testGoalHere(
  order: GoalTestOrder,
  onCallee: (test: CalleeTest) => void,
): Promise<GoalTestSummary> {
  const config = readConfig(process.env);
  const keys = createProviderKeys(systemClock);
  const agents = agentsOf(config, null, keys);
  const { results } = chatsOf(config, createLog('error'), keys);
  const tester = createGoalTester({ clock: systemClock, agents, extractor: extractorOf(results) });
  return tester.run(tester.prepare(order), onCallee, new AbortController().signal);
}

/** How long a stop may take beyond the time that live calls are given, milliseconds. */
const stopGraceMs = 15_000;

/** Runs the program until a signal or a fault ends it. Exit code 0 after a stop that was asked for, 1 otherwise. */
export async function serve(): Promise<void> {
  let config: Config;
  let log: Logger;
  let service: Service;
  const fatal = (error: Error) => {
    log.fatal({ err: error }, 'can not go on');
    process.exit(1);
  };
  try {
    config = readConfig(process.env);
    log = createLog(config.logLevel);
    for (const name of unknownVariables(process.env))
      log.warn({ variable: name }, 'not a setting of Trunkcall');
    service = await startService(config, { log, onFatal: fatal });
  } catch (error) {
    return giveUp(error);
  }
  announce(service, config);

  endInOrder({
    program: process,
    clock: systemClock,
    log,
    stop: () => service.stop(),
    stopWithinMs: config.drainMs + stopGraceMs,
  });
}

function describe(error: Error): string {
  const cause = error.cause instanceof Error && error.cause.message !== '' ? ` (${error.cause.message})` : '';
  return `${error.message}${cause}`.replaceAll('\n', ' ');
}

function announce({ url, founded, firstPersonToken }: Service, config: Config): void {
  const lines = [
    url === null ? 'Trunkcall places calls.' : `Trunkcall listens on ${url} (${config.environment}).`,
    ...(url === null ? [] : consoleLines(config.publicUrl ?? url, firstPersonToken)),
    ...(founded === null || url === null ? [] : firstSteps(founded, url, resolve(config.dataDir))),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** The secret stands behind `#`, where no server and no log sees it. */
function consoleLines(url: string, firstPersonToken: string | null): string[] {
  const console = `${url.replace(/\/+$/, '')}/console`;
  if (firstPersonToken === null) return [`Console: ${console}`];
  return [`Console: ${console}/join#${firstPersonToken}  (makes you its first person; good for an hour)`];
}

function firstSteps(founded: Credentials, url: string, dataDir: string): string[] {
  const file = join(dataDir, 'credentials.json');
  const goal = founded.goals?.['confirm-delivery'];
  if (founded.api_key === undefined || goal === undefined) return [`Credentials: ${file}`];
  return [
    `Credentials: ${file}`,
    '',
    'Call a simulated person:',
    '',
    `  curl -s ${url}/v1/goals/${goal}/runs \\`,
    `    -H 'Authorization: Bearer ${founded.api_key}' \\`,
    `    -H 'Idempotency-Key: first-call' -H 'Content-Type: application/json' \\`,
    `    -d '{"phone":"+12025550100","variables":{"customer_name":"Ada","order_reference":"A-1042"}}'`,
    '',
    'and a few seconds later read its result, with the id that came back:',
    '',
    `  curl -s ${url}/v1/goals/${goal}/runs/GOAL_RUN_ID -H 'Authorization: Bearer ${founded.api_key}'`,
    '',
  ];
}

if (import.meta.main) await serve();
