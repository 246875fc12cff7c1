import {
  callerBehaviors,
  type CallerBehavior,
  type OperatorNumber,
  type RingRequest,
  type RungNumber,
  type UpdateNumberRequest,
} from '@trunkcall/contract';
import { Option, type Command } from 'commander';
import type { Context } from '../program.ts';
import { fields, shortTime, table } from '../report.ts';

interface AddOptions {
  readonly account?: string;
  readonly label?: string;
}

interface SetOptions {
  readonly label?: string;
  readonly account?: string;
  readonly goal?: string;
}

interface RingOptions {
  readonly from?: string;
  readonly does?: CallerBehavior;
}

export function numberCommands(group: Command, { connect, report }: Context): void {
  group
    .command('add')
    .description('enter a number of ours, which callees may see, nobody dials and a Goal may answer')
    .argument('<phone>', 'E.164')
    .option('--account <account>', 'whose own it is; without it all share it')
    .option('--label <label>', 'for people')
    .action(async (phone: string, options: AddOptions) => {
      const client = await connect();
      report.print(await client.addNumber({ phone, ...options }), numberFields);
    });

  group
    .command('set')
    .description('change whose a number is, who answers calls to it, or its label')
    .argument('<number_id>', 'its id')
    .option('--label <label>', 'for people')
    .option('--account <account>', 'whose own it becomes; `shared` for all')
    .option('--goal <goal_id>', 'the Goal that answers calls to it; `none` for nobody')
    .action(async (id: string, options: SetOptions) => {
      const client = await connect();
      report.print(await client.updateNumber(id, changeFrom(options)), numberFields);
    });

  group
    .command('ring')
    .description('let a simulated person call a number of ours (environment test)')
    .argument('<number_id>', 'its id')
    .option('--from <phone>', 'the caller’s number, E.164; `anonymous` hides it')
    .addOption(new Option('--does <behaviour>', 'how the caller behaves').choices(callerBehaviors))
    .action(async (id: string, { from, ...options }: RingOptions) => {
      const client = await connect();
      const caller = from === undefined ? {} : { from: orNull('anonymous', from) };
      const ring: RingRequest = { ...options, ...caller };
      report.print(await client.ringNumber(id, ring), ringFields);
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

/** Commander makes an empty text of a null that a parser of its own gives, so it is made here. */
const orNull = (word: string, text: string): string | null => (text === word ? null : text);

function changeFrom({ label, account, goal }: SetOptions): UpdateNumberRequest {
  return {
    ...(label === undefined ? {} : { label }),
    ...(account === undefined ? {} : { account: orNull('shared', account) }),
    ...(goal === undefined ? {} : { inbound_goal: orNull('none', goal) }),
  };
}

function numberFields(number: OperatorNumber): string {
  const { id, phone, label, account_id, is_default, inbound_goal_id } = number;
  return fields({
    id,
    phone,
    label: label || null,
    account: account_id ?? 'shared',
    'shown to callees': is_default ? 'yes' : null,
    'answered by': inbound_goal_id ?? 'nobody',
    'refused today': refused(number) || null,
  });
}

function ringFields({ outcome, run }: RungNumber): string {
  return fields({ outcome, run: run?.id ?? null, goal: run?.goal_id ?? null });
}

function numberTable(numbers: readonly OperatorNumber[]): string {
  const rows = numbers.map((number) => [
    number.phone,
    number.id,
    number.account_id ?? 'shared',
    number.inbound_goal_id ?? 'nobody',
    refused(number),
    shortTime(number.created_at),
    number.label,
  ]);
  return table(['PHONE', 'ID', 'ACCOUNT', 'ANSWERED BY', 'REFUSED TODAY', 'ADDED', 'LABEL'], rows);
}

const refused = ({ refused_today }: OperatorNumber): string =>
  Object.entries(refused_today)
    .map(([reason, calls]) => `${calls} ${reason}`)
    .join(', ');
