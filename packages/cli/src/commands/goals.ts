import type {
  GoalAction,
  GoalFileProblem,
  OperatorGoal,
  OperatorGoalDetail,
  OperatorList,
} from '@trunkcall/contract';
import { TrunkcallError, type OperatorClient } from '@trunkcall/sdk';
import { parseGoalFile } from '@trunkcall/server/goal-file';
import type { Command } from 'commander';
import { goalFileFailure } from '../failure.ts';
import { readGoalFile } from '../goal-file.ts';
import type { Context } from '../program.ts';
import { fields, shortTime, table } from '../report.ts';
import { goalTestCommand } from './goal-test.ts';

const actions: Readonly<Record<GoalAction, string>> = {
  publish: 'make the draft the current version for new Runs',
  unpublish: 'withdraw the current version; accepted Runs go on',
  pause: 'accept no Runs until resumed',
  resume: 'accept Runs again',
  retire: 'end the Goal for good; accepted Runs stay readable',
  hide: 'let API clients no longer see the Goal',
  list_publicly: 'let API clients see the Goal',
};

export function goalCommands(group: Command, context: Context): void {
  const { connect, report } = context;
  group
    .command('apply')
    .description('write a Goal file as the draft of a new or an existing Goal')
    .argument('<file>', 'YAML or JSON')
    .requiredOption('--account <account>', 'id or name of the owner')
    .option('--goal <goal_id>', 'the Goal whose draft to replace (default: a new Goal)')
    .action(async (file: string, { account, goal }: { account: string; goal?: string }) => {
      const text = await readGoalFile(file);
      const client = await connect();
      report.print(await client.applyGoal(account, text, goal).catch(nameFile(file)), goalFields);
    });

  for (const action of Object.keys(actions) as GoalAction[]) {
    group
      .command(action.replace('_', '-'))
      .description(actions[action])
      .argument('<goal_id>')
      .action(async (goalId: string) => {
        const client = await connect();
        report.print(await client.commandGoal(goalId, action), goalFields);
      });
  }

  group
    .command('show')
    .description('show a Goal with its versions')
    .argument('<goal_id>')
    .action(async (goalId: string) => {
      const client = await connect();
      report.print(await client.getGoal(goalId), goalDetail);
    });

  group
    .command('list')
    .description('list the Goals of an account')
    .requiredOption('--account <account>', 'id or name')
    .action(async ({ account }: { account: string }) => {
      const client = await connect();
      report.print(await listAll(client, account), ({ data }) => goalTable(data));
    });

  group
    .command('validate')
    .description('check a Goal file without keeping it')
    .argument('<file>', 'YAML or JSON')
    .action(async (file: string) => {
      // Needs no service: files are checked where they are written, with the very code that publishing uses.
      const { text } = await readGoalFile(file);
      const parsed = parseGoalFile(text);
      if (!parsed.ok) throw goalFileFailure(file, parsed.problems);
      report.print({ valid: true }, () => `${file} is valid`);
    });

  goalTestCommand(group.command('test'), context);
}

async function listAll(client: OperatorClient, account: string): Promise<OperatorList<OperatorGoal>> {
  const data: OperatorGoal[] = [];
  for (let after: string | null | undefined; after !== null;) {
    const query = { account, limit: 100, ...(after === undefined ? {} : { after }) };
    const page: OperatorList<OperatorGoal> = await client.listGoals(query);
    data.push(...page.data);
    after = page.next_cursor;
  }
  return { object: 'list', data, next_cursor: null };
}

/** The service knows the text, not its name; people need both. */
function nameFile(file: string): (error: unknown) => never {
  return (error) => {
    const isInvalid = error instanceof TrunkcallError && error.code === 'goal_invalid';
    throw isInvalid ? goalFileFailure(file, error.details['problems'] as GoalFileProblem[]) : error;
  };
}

const publishedAs = (goal: OperatorGoal) =>
  goal.published_run_spec === null ? 'no' : `version ${goal.published_run_spec.version}`;

function goalFields(goal: OperatorGoal): string {
  return fields({
    id: goal.id,
    title: goal.title,
    account: goal.account_id,
    state: goal.state,
    listed: goal.listed ? 'yes' : 'no',
    published: publishedAs(goal),
    ready: goal.not_ready.length === 0 ? 'yes' : `no: ${goal.not_ready.join('; ')}`,
    created: shortTime(goal.created_at),
    updated: shortTime(goal.updated_at),
  });
}

function goalDetail(goal: OperatorGoalDetail): string {
  const versions = goal.versions.map(({ version, id, published_at, runs }) => [
    String(version),
    id,
    shortTime(published_at),
    String(runs),
  ]);
  return `${goalFields(goal)}\n\n${table(['VERSION', 'RUN SPEC', 'PUBLISHED', 'RUNS'], versions)}`;
}

function goalTable(goals: readonly OperatorGoal[]): string {
  const rows = goals.map((goal) => [
    goal.id,
    goal.state,
    goal.listed ? 'yes' : 'no',
    publishedAs(goal),
    goal.not_ready.length === 0 ? 'yes' : 'no',
    goal.title,
  ]);
  return table(['ID', 'STATE', 'LISTED', 'PUBLISHED', 'READY', 'TITLE'], rows);
}
