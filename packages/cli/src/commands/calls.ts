import type { OperatorCall, OperatorCallDetail } from '@trunkcall/contract';
import type { Command } from 'commander';
import type { Context } from '../program.ts';
import { fields, printable, section, shortTime, table } from '../report.ts';

export function callCommands(group: Command, { connect, report }: Context): void {
  group
    .command('list')
    .description('list the newest call tasks and one-shot calls')
    .option('--account <account>', 'only those of one account')
    .action(async ({ account }: { account?: string }) => {
      const client = await connect();
      const page = await client.listCalls(account === undefined ? {} : { account });
      report.print(page, ({ data }) => callTable(data));
    });

  group
    .command('show')
    .description('show a call with its recipients, results and events')
    .argument('<call_id>', 'id of a call task or a one-shot call')
    .action(async (call: string) => {
      const client = await connect();
      report.print(await client.getCall(call), callDetail);
    });

  group
    .command('cancel')
    .description('stop a call that has not ended; live calls of it are hung up')
    .argument('<call_id>', 'id of a call task or a one-shot call')
    .action(async (call: string) => {
      const client = await connect();
      report.print(await client.cancelCall(call), callFields);
    });
}

function callTable(calls: readonly OperatorCall[]): string {
  const rows = calls.map(({ id, kind, status, error_code, created_at, summary }) => [
    id,
    kind,
    status,
    error_code ?? '',
    shortTime(created_at),
    printable(summary ?? ''),
  ]);
  return table(['ID', 'KIND', 'STATUS', 'ERROR', 'CREATED', 'SUMMARY'], rows);
}

function callFields(call: OperatorCall): string {
  return fields({
    id: call.id,
    kind: call.kind,
    account: call.account_id,
    status: call.status,
    error: call.error_code,
    summary: call.summary === null ? null : printable(call.summary),
    created: shortTime(call.created_at),
    completed: call.completed_at === null ? null : shortTime(call.completed_at),
    'cancel requested': call.cancel_requested_at === null ? null : shortTime(call.cancel_requested_at),
  });
}

function callDetail(call: OperatorCallDetail): string {
  const events = call.events.map(({ type, created_at }) => [shortTime(created_at), type]);
  return [
    callFields(call),
    section('As its client sees it', printable(JSON.stringify(call.view, null, 2))),
    section('Events', table(['TIME', 'TYPE'], events)),
  ].join('\n\n');
}
