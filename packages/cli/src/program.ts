import type { CalleeTest, GoalTestOrder, GoalTestSummary } from '@trunkcall/contract';
import { Command, CommanderError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { accountCommands } from './commands/accounts.ts';
import { callCommands } from './commands/calls.ts';
import { doctorCommand } from './commands/doctor.ts';
import { goalCommands } from './commands/goals.ts';
import { keyCommands } from './commands/keys.ts';
import { numberCommands } from './commands/numbers.ts';
import { peopleCommands } from './commands/people.ts';
import { runCommands } from './commands/runs.ts';
import { usageCommand } from './commands/usage.ts';
import { trunkCommands } from './commands/trunks.ts';
import { webhookCommands } from './commands/webhooks.ts';
import { workerCommands } from './commands/workers.ts';
import { connect, type Connect } from './connect.ts';
import { describeFailure, Failure, type Exit } from './failure.ts';
import { createReport, type Report } from './report.ts';

export interface Process {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** What a command needs besides its arguments. */
export interface Context {
  readonly connect: Connect;
  readonly report: Report;
  /** Prints a text as it is, for other programs. */
  readonly print: (text: string) => void;
  /** Loads the server into this process. Throws: Failure `not_installed`. */
  readonly server: () => Promise<Server>;
  /** Makes the program end with another code than 0. */
  readonly exitWith: (code: Exit) => void;
}

const { version } = packageJson;
const jsonFlag = '--json';
/** Commander's own endings that are no mistake. */
const wantedEndings = ['commander.helpDisplayed', 'commander.version'];

/**
 * Runs one command line (without node and script). Ends with the exit code: 0 done, 1 refused or failed, 2 wrong
 * usage or settings. Never throws.
 *
 * With `--json` there is exactly one JSON document: on the standard output when the command succeeds, else
 * `{"error": …}` on the standard error.
 */
export async function run(argv: readonly string[], process: Process): Promise<Exit> {
  const json = argv.includes(jsonFlag);
  let exit: Exit = 0;
  const context: Context = {
    connect: () => connect(process.env),
    report: createReport(process.out, json),
    print: process.out,
    server: loadServer,
    exitWith: (code) => {
      exit = code;
    },
  };
  try {
    await buildProgram(context, process, json).parseAsync([...argv], { from: 'user' });
    return exit;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (wantedEndings.includes(error.code)) return 0;
      // In words Commander has said it already.
      if (json)
        process.err(`${JSON.stringify({ error: { code: 'usage', message: error.message, details: {} } })}\n`);
      return 2;
    }
    const failure = describeFailure(error);
    process.err(json ? `${JSON.stringify({ error: failure.document })}\n` : `${failure.lines.join('\n')}\n`);
    return failure.exit;
  }
}

function buildProgram(context: Context, process: Process, json: boolean): Command {
  const program = new Command('trunkcall')
    .description('Runs a Trunkcall service and looks after its accounts, keys, Goals and Runs.')
    .version(version)
    .exitOverride()
    .configureOutput({ writeOut: process.out, writeErr: json ? () => {} : process.err })
    .showHelpAfterError('(add --help for help)');
  program
    .command('serve')
    .description('start the service in this process; its settings are TRUNKCALL_* variables')
    .action(() => runServer('serve'));
  program
    .command('export')
    .description('write all data of a stopped service to standard output')
    .action(() => runServer('exportToStdout'));
  program
    .command('import')
    .description('take an export from standard input into an empty database')
    .action(() => runServer('importFromStdin'));
  accountCommands(program.command('accounts').description('accounts, the owners of Goals and keys'), context);
  keyCommands(program.command('keys').description('API keys'), context);
  peopleCommands(program.command('people').description('people of the console, and their roles'), context);
  goalCommands(program.command('goals').description('Goals: draft, publish, pause, retire'), context);
  runCommands(program.command('runs').description('Runs: list, show, watch, cancel'), context);
  callCommands(program.command('calls').description('calls without a Goal: list, show, cancel'), context);
  numberCommands(program.command('numbers').description('our own numbers'), context);
  webhookCommands(program.command('webhooks').description('webhooks: endpoints and deliveries'), context);
  usageCommand(program.command('usage'), context);
  trunkCommands(program.command('trunks').description('trunks: list, place a test call'), context);
  workerCommands(program.command('workers').description('processes: list, drain, resume'), context);
  doctorCommand(program.command('doctor'), context);
  for (const command of family(program)) command.option(jsonFlag, 'print one JSON document');
  return program;
}

/** The server is an optional neighbour: nothing of it is loaded for other commands. */
const serverMain = '@trunkcall/server/main';

/** What commands use of the server in their own process. */
interface Server {
  /** Each returns when the service listens, or the data is through; `serve` goes on behind it. */
  serve(): Promise<void>;
  exportToStdout(): Promise<void>;
  importFromStdin(): Promise<void>;
  testGoalHere(order: GoalTestOrder, onCallee: (test: CalleeTest) => void): Promise<GoalTestSummary>;
}

async function loadServer(): Promise<Server> {
  try {
    return (await import(serverMain)) as Server;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED') throw error;
    throw new Failure('not_installed', 'the package @trunkcall/server is not installed here', {
      cause: error,
    });
  }
}

/** Runs a part of the server that takes the whole process. */
async function runServer(part: 'serve' | 'exportToStdout' | 'importFromStdin'): Promise<void> {
  const server = await loadServer();
  await server[part]();
}

function family(command: Command): Command[] {
  return [command, ...command.commands.flatMap(family)];
}
