import type { OperatorNumber } from '@trunkcall/contract';
import type { Command } from 'commander';
import type { Context } from '../program.ts';
import { fields, shortTime, table } from '../report.ts';

export function numberCommands(group: Command, { connect, report }: Context): void {
  group
    .command('add')
    .description('enter a number of ours, which callees may see and nobody dials')
    .argument('<phone>', 'E.164')
    .option('--account <account>', 'whose own it is; without it all share it')
    .action(async (phone: string, { account }: { account?: string }) => {
      const client = await connect();
      const sent = account === undefined ? { phone } : { phone, account };
      report.print(await client.addNumber(sent), numberFields);
    });

  group
    .command('list')
    .description('list our numbers')
    .action(async () => {
      const client = await connect();
      report.print(await client.listNumbers(), ({ data }) => numberTable(data));
    });

  group
    .command('remove')
    .description('forget a number that no account shows')
    .argument('<number_id>', 'its id')
    .action(async (id: string) => {
      const client = await connect();
      report.print(await client.removeNumber(id), numberFields);
    });
}

function numberFields({ id, phone, account_id }: OperatorNumber): string {
  return fields({ id, phone, account: account_id ?? 'shared' });
}

function numberTable(numbers: readonly OperatorNumber[]): string {
  const rows = numbers.map(({ id, phone, account_id, created_at }) => [
    phone,
    id,
    account_id ?? 'shared',
    shortTime(created_at),
  ]);
  return table(['PHONE', 'ID', 'ACCOUNT', 'ADDED'], rows);
}
