import { setTimeout as sleep } from 'node:timers/promises';
import type { OperatorTestCall, OperatorTrunk } from '@trunkcall/contract';
import type { OperatorClient } from '@trunkcall/sdk';
import type { Command } from 'commander';
import type { Context } from '../program.ts';
import { clockTime, fields, table } from '../report.ts';

/** How often a test call is looked at, milliseconds. */
const lookEveryMs = 400;

export function trunkCommands(group: Command, { connect, report, exitWith }: Context): void {
  group
    .command('list')
    .description('list the trunks, and how they stand')
    .action(async () => {
      const client = await connect();
      report.print(await client.listTrunks(), ({ data }) => trunkTable(data));
    });

  group
    .command('test')
    .description('place a short call over one trunk, with an announcement; ends with 1 when it did not pass')
    .argument('<trunk>', 'its name')
    .argument('<phone>', 'E.164: a telephone of yours, which will ring')
    .action(async (trunk: string, phone: string) => {
      const client = await connect();
      const begun = await client.testTrunk(trunk, { phone });
      const call = await follow(client, begun.id, (line) => report.line(line));
      report.print(call, testCallFields);
      if (call.outcome !== 'passed') exitWith(1);
    });
}

/** Tells each step once, until the end; the service ends every test call within two minutes. */
async function follow(
  client: OperatorClient,
  id: string,
  tell: (line: string) => void,
): Promise<OperatorTestCall> {
  for (let told = 0; ;) {
    const call = await client.getTestCall(id);
    for (const { step, at } of call.steps.slice(told)) tell(`${clockTime(at)}  ${step}`);
    told = call.steps.length;
    if (call.state === 'ended') return call;
    await sleep(lookEveryMs);
  }
}

function testCallFields({ id, outcome, ended_by, sip_status, q850, note, media }: OperatorTestCall): string {
  return fields({
    id,
    outcome: outcome ?? 'under way',
    'ended by': ended_by,
    'SIP status': sip_status,
    'Q.850 cause': q850,
    note,
    ...(media === null
      ? {}
      : {
          'packets out': media.packets_out,
          'packets in': `${media.packets_in} (${media.packets_lost} lost, ${media.packets_late} late)`,
          'jitter ms': media.jitter_ms,
          MOS: media.mos,
        }),
  });
}

function trunkTable(trunks: readonly OperatorTrunk[]): string {
  const rows = trunks.map((trunk) => [
    trunk.name,
    trunk.state,
    trunk.max_calls === null ? String(trunk.lines_in_use) : `${trunk.lines_in_use}/${trunk.max_calls}`,
    String(trunk.calls_today),
    trunk.proxy?.host ?? '',
    trunk.why ?? '',
  ]);
  return table(['TRUNK', 'STATE', 'LINES', 'CALLS TODAY', 'PROXY', 'WHY'], rows);
}
