import type { OperatorWorker } from '@trunkcall/contract';
import type { Command } from 'commander';
import type { Context } from '../program.ts';
import { fields, shortTime, table } from '../report.ts';

export function workerCommands(group: Command, { connect, report }: Context): void {
  group
    .command('list')
    .description('list the processes of the deployment')
    .action(async () => {
      const client = await connect();
      report.print(await client.listWorkers(), ({ data }) => workerTable(data));
    });

  group
    .command('drain')
    .description('let a process take no new calls; those under way go on')
    .argument('<worker_id>', 'its id')
    .action(async (id: string) => {
      const client = await connect();
      report.print(await client.switchWorker(id, 'drain'), workerFields);
    });

  group
    .command('resume')
    .description('let a process take calls again')
    .argument('<worker_id>', 'its id')
    .action(async (id: string) => {
      const client = await connect();
      report.print(await client.switchWorker(id, 'resume'), workerFields);
    });
}

function stateOf({
  alive,
  draining,
  drain_requested_at: requested,
  live_calls: calls,
}: OperatorWorker): string {
  if (!alive) return 'silent';
  if (draining) return calls === 0 ? 'drained' : 'draining';
  return requested === null ? 'alive' : 'to drain';
}

function workerFields(worker: OperatorWorker): string {
  const { id, host, live_calls: calls } = worker;
  return fields({ id, host, state: stateOf(worker), calls });
}

function workerTable(workers: readonly OperatorWorker[]): string {
  const rows = workers.map((worker) => [
    worker.id,
    worker.host,
    worker.roles.join(','),
    stateOf(worker),
    String(worker.live_calls),
    worker.version,
    shortTime(worker.started_at),
  ]);
  return table(['ID', 'HOST', 'ROLES', 'STATE', 'CALLS', 'VERSION', 'STARTED'], rows);
}
