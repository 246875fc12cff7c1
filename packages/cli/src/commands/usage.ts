import {
  usageGroupings,
  usageNotice,
  type DeploymentUsage,
  type Usage,
  type UsageAmounts,
  type UsageBudget,
  type UsageByCall,
  type UsageDays,
  type UsageGrouping,
} from '@trunkcall/contract';
import { Option, type Command } from 'commander';
import { Failure } from '../failure.ts';
import type { Context } from '../program.ts';
import { table } from '../report.ts';

interface UsageOptions extends UsageDays {
  readonly account?: string;
  readonly by?: UsageGrouping;
  readonly after?: string;
  readonly csv?: true;
}

const callsPerPage = 100;

export function usageCommand(command: Command, { connect, report, print }: Context): void {
  command
    .description('what calls would cost by the preview of prices; nothing is charged')
    .option('--account <account>', 'id or name; without it the totals of all accounts')
    .option('--from <day>', 'first day (UTC), such as 2030-01-01; the first of the month by default')
    .option('--to <day>', 'last day (UTC); today by default')
    .addOption(new Option('--by <part>', 'what the rows are (default: day)').choices(usageGroupings))
    .option('--after <cursor>', 'of calls: where the next page begins')
    .option('--csv', 'print CSV (RFC 4180) instead')
    .action(async ({ account, csv, by, after, from, to }: UsageOptions) => {
      const days: UsageDays = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
      const rows = { ...days, ...(by !== undefined && { by }) };
      if (account === undefined && by !== undefined) throw wrongUse('--by needs --account');
      if (after !== undefined && (by !== 'call' || csv))
        throw wrongUse('--after goes with --by call, without --csv');
      if (csv && report.json) throw wrongUse('--csv and --json can not both be');
      const client = await connect();
      if (account === undefined) {
        if (csv) print(await client.deploymentUsageCsv(days));
        else report.print(await client.deploymentUsage(days), deploymentText);
      } else if (csv) print(await client.usageCsv(account, rows));
      else {
        const page = { ...(by === 'call' && { limit: callsPerPage }), ...(after !== undefined && { after }) };
        report.print(await client.usage(account, { ...rows, ...page }), usageText);
      }
    });
}

const wrongUse = (message: string) => new Failure('usage', message, { exit: 2 });

const amountHead = ['CALLS', 'ANSWERED', 'MODEL', 'CARRIER', 'TOTAL'];

const amountCells = (amounts: UsageAmounts): string[] => [
  String(amounts.attempts),
  String(amounts.answered),
  amounts.model,
  atLeast(amounts, amounts.carrier),
  atLeast(amounts, amounts.total),
];

/** A part that is not known makes a sum a lower bound. */
const atLeast = ({ carrier_unknown: unknown }: UsageAmounts, sum: string): string =>
  unknown === 0 ? sum : `≥ ${sum}`;

/** `0.0348 USD`, and what is not in it. */
export const totalText = (amounts: UsageAmounts): string =>
  `${atLeast(amounts, amounts.total)} USD${amounts.carrier_unknown === 0 ? '' : ' (a carrier fee is unknown)'}`;

function deploymentText(usage: DeploymentUsage): string {
  const rows = usage.data.map((item) => [item.name, ...amountCells(item)]);
  return withNotice(
    usage,
    table(['ACCOUNT', ...amountHead], [...rows, ['total', ...amountCells(usage.totals)]]),
  );
}

function usageText(usage: Usage): string {
  const [head, rows] = rowsOf(usage);
  const next = usage.next_cursor === null ? [] : [`more with --after ${usage.next_cursor}`];
  const lines = [table(head, rows), '', `total: ${totalText(usage.totals)}`, budgetText(usage.budget)];
  return withNotice(usage, [...lines, ...next].join('\n'));
}

function rowsOf(usage: Usage): [head: string[], rows: string[][]] {
  switch (usage.by) {
    case 'day':
      return [['DAY', ...amountHead], usage.data.map((item) => [item.day, ...amountCells(item)])];
    case 'goal':
      return [
        ['GOAL', 'TITLE', ...amountHead],
        usage.data.map((item) => [item.goal_id ?? 'none', item.title ?? '', ...amountCells(item)]),
      ];
    case 'call':
      return [
        ['DAY', 'RUN OR CALL', 'MODE', 'COUNTRY', 'SECONDS', 'MODEL', 'CARRIER', 'TOTAL'],
        usage.data.map(callCells),
      ];
  }
}

function callCells(call: UsageByCall['data'][number]): string[] {
  return [
    call.day,
    call.goal_run_id ?? call.call_id ?? call.run_id,
    call.mode,
    call.country ?? '',
    call.answered_seconds === null ? 'no answer' : String(call.answered_seconds),
    call.model,
    call.carrier ?? 'unknown',
    call.total ?? 'unknown',
  ];
}

function budgetText({ monthly, month, used, percent }: UsageBudget): string {
  return monthly === null ? 'budget: none' : `budget of ${month}: ${used} of ${monthly} USD (${percent} %)`;
}

const withNotice = ({ from, to }: { readonly from: string; readonly to: string }, text: string): string =>
  `${from} to ${to}, USD. ${usageNotice} The success fee is waived.\n\n${text}`;
