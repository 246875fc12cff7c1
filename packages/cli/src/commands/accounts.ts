import type { OperatorAccount } from '@trunkcall/contract';
import type { Command } from 'commander';
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
    .command('list')
    .description('list all accounts')
    .action(async () => {
      const client = await connect();
      report.print(await client.listAccounts(), ({ data }) => accountTable(data));
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
