import type { OperatorAccount, UpdateAccountRequest } from '@trunkcall/contract';
import { Option, type Command } from 'commander';
import type { Context } from '../program.ts';
import { fields, shortTime, table } from '../report.ts';

export function accountCommands(group: Command, { connect, report }: Context): void {
  group
    .command('create')
    .description('create an account')
    .argument('<name>', 'unique, 1–64 characters; callees hear it as the caller')
    .action(async (name: string) => {
      const client = await connect();
      report.print(await client.createAccount(name), ({ id, name }) => fields({ id, name }));
    });

  group
    .command('set')
    .description('change settings of an account')
    .argument('<account>', 'id or name')
    .option('--max-calls <number>', 'calls at the same time', Number)
    .option('--max-tasks <number>', 'call tasks at the same time; `default` lets its lines decide')
    .option('--max-inbound-calls <number>', 'calls to its numbers that are answered at the same time', Number)
    .option('--region <region>', 'how national numbers in tasks are read, such as US')
    .option('--disclosure-on', 'calls begin by saying that an automated assistant is calling (the default)')
    .addOption(
      new Option(
        '--disclosure-off <reason>',
        'calls begin without that; the reason is kept in the audit log',
      ).conflicts('disclosureOn'),
    )
    .option('--default-number <number_id>', 'what callees see; `shared` for the shared lines')
    .option(
      '--monthly-budget <dollars>',
      'alerts at 80 % and 100 % of the preview of prices; `none` for none',
    )
    .action(async (account: string, options: SetOptions) => {
      const client = await connect();
      report.print(await client.updateAccount(account, changeFrom(options)), accountFields);
    });

  group
    .command('list')
    .description('list all accounts')
    .action(async () => {
      const client = await connect();
      report.print(await client.listAccounts(), ({ data }) => accountTable(data));
    });
}

interface SetOptions {
  readonly maxCalls?: number;
  readonly maxTasks?: string;
  readonly maxInboundCalls?: number;
  readonly region?: string;
  readonly defaultNumber?: string;
  readonly monthlyBudget?: string;
  readonly disclosureOn?: true;
  readonly disclosureOff?: string;
}

/** The words for null are read here: Commander would make an empty text of a null. */
function changeFrom(options: SetOptions): UpdateAccountRequest {
  const { maxCalls, maxTasks, maxInboundCalls, region, defaultNumber, monthlyBudget } = options;
  const { disclosureOn, disclosureOff: reason } = options;
  return {
    ...(maxCalls === undefined ? {} : { max_active_calls: maxCalls }),
    ...(maxTasks === undefined ? {} : { max_active_tasks: maxTasks === 'default' ? null : Number(maxTasks) }),
    ...(maxInboundCalls === undefined ? {} : { max_inbound_calls: maxInboundCalls }),
    ...(region === undefined ? {} : { region }),
    ...(disclosureOn === undefined ? {} : { disclosure: { off: false } }),
    ...(reason === undefined ? {} : { disclosure: { off: true, reason } }),
    ...(defaultNumber === undefined
      ? {}
      : { default_number: defaultNumber === 'shared' ? null : defaultNumber }),
    ...(monthlyBudget === undefined
      ? {}
      : { monthly_budget: monthlyBudget === 'none' ? null : monthlyBudget }),
  };
}

function accountFields(account: OperatorAccount): string {
  const { id, name, max_active_calls, max_inbound_calls, max_active_tasks, region } = account;
  const { default_number, monthly_budget, disclosure } = account;
  return fields({
    id,
    name,
    'calls at once': max_active_calls,
    'inbound calls at once': max_inbound_calls,
    'call tasks at once': max_active_tasks ?? 'as its lines allow',
    region,
    disclosure: disclosure.off
      ? `off since ${shortTime(disclosure.at)} by ${disclosure.by ?? 'the operator API'}: ${disclosure.reason}`
      : 'on',
    'default number': default_number ?? 'shared',
    'monthly budget': monthly_budget === null ? 'none' : `${monthly_budget} USD`,
  });
}

function accountTable(accounts: readonly OperatorAccount[]): string {
  const rows = accounts.map(({ name, id, active_calls, max_active_calls, created_at }) => [
    name,
    id,
    `${active_calls}/${max_active_calls}`,
    shortTime(created_at),
  ]);
  return table(['NAME', 'ID', 'CALLS', 'CREATED'], rows);
}
