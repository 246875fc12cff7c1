import type { DoctorReport } from '@trunkcall/contract';
import type { Command } from 'commander';
import type { Context } from '../program.ts';
import { fields, printable, section, shortTime, table } from '../report.ts';

export function doctorCommand(command: Command, { connect, report, exitWith }: Context): void {
  command.description('check the deployment; ends with 1 when something needs attention').action(async () => {
    const client = await connect();
    const examined = await client.doctor();
    report.print(examined, doctorText);
    if (examined.problems.length > 0) exitWith(1);
  });
}

function doctorText({ problems, environment, database, queues, workers, goals }: DoctorReport): string {
  const queueRows = queues.map((queue) => [
    queue.queue,
    String(queue.waiting),
    String(queue.due),
    String(queue.leased),
    queue.oldest_due_seconds === null ? '' : `${Math.round(queue.oldest_due_seconds)} s`,
  ]);
  const workerRows = workers.map(({ worker, queue, leases, lease_seconds_left }) => [
    worker,
    queue,
    String(leases),
    `${Math.round(lease_seconds_left)} s`,
  ]);
  const newest = database.migrations.at(-1);
  const ready = goals.filter(({ not_ready }) => not_ready.length === 0).length;
  return [
    fields({
      environment,
      database: `${database.kind}, PostgreSQL ${database.version}`,
      schema: newest === undefined ? null : `${newest.name} (${shortTime(newest.applied_at)})`,
      goals: `${goals.length} published, ${ready} ready`,
    }),
    section('Queues', table(['QUEUE', 'WAITING', 'DUE', 'LEASED', 'OLDEST DUE'], queueRows)),
    section('Workers', table(['WORKER', 'QUEUE', 'LEASES', 'LEASE LEFT'], workerRows)),
    problems.length === 0 ? 'All is well.' : problems.map((problem) => `! ${printable(problem)}`).join('\n'),
  ].join('\n\n');
}
