import { accountRoles, consoleRoles, type AccountRole, type ConsoleRole } from '@trunkcall/contract';
import type { OperatorInvitation, OperatorPerson, PersonLink } from '@trunkcall/contract';
import { Argument, Option, type Command } from 'commander';
import type { Context } from '../program.ts';
import { fields, shortTime, table } from '../report.ts';

interface OfAccount {
  readonly account: string;
}

export function peopleCommands(group: Command, { connect, report }: Context): void {
  const inAccount = ['--account <account>', 'id or name of the account'] as const;

  group
    .command('list')
    .description('list who has a role in an account; operators have every right everywhere')
    .requiredOption(...inAccount)
    .action(async ({ account }: OfAccount) => {
      const client = await connect();
      report.print(await client.listPeople(account), ({ data }) => peopleTable(data));
    });

  group
    .command('invite')
    .description('give somebody a role; the link for somebody new is shown this once')
    .argument('<email>', 'e-mail address')
    .requiredOption(...inAccount)
    .addOption(new Option('--role <role>', 'what they may do').choices(consoleRoles).makeOptionMandatory())
    .action(async (email: string, { account, role }: OfAccount & { readonly role: ConsoleRole }) => {
      const client = await connect();
      report.print(await client.invitePerson(account, { email, role }), linkFields);
    });

  group
    .command('invitations')
    .description('list invitations that nobody has followed yet')
    .requiredOption(...inAccount)
    .action(async ({ account }: OfAccount) => {
      const client = await connect();
      report.print(await client.listInvitations(account), ({ data }) => invitationTable(data));
    });

  group
    .command('withdraw')
    .description('end the links of an invitation')
    .argument('<email>', 'e-mail address')
    .requiredOption(...inAccount)
    .action(async (email: string, { account }: OfAccount) => {
      const client = await connect();
      report.print(await client.withdrawInvitation(account, email), ({ data }) => invitationTable(data));
    });

  group
    .command('role')
    .description('give a person another role in an account')
    .argument('<person_id>')
    .addArgument(new Argument('<role>', 'what they may do there').choices(accountRoles))
    .requiredOption(...inAccount)
    .action(async (personId: string, role: AccountRole, { account }: OfAccount) => {
      const client = await connect();
      report.print(await client.setPersonRole(account, personId, role), personFields);
    });

  group
    .command('leave')
    .description('take a person’s role in an account away')
    .argument('<person_id>')
    .requiredOption(...inAccount)
    .action(async (personId: string, { account }: OfAccount) => {
      const client = await connect();
      report.print(await client.takePersonRole(account, personId), personFields);
    });

  group
    .command('password-link')
    .description('make a link by which a person chooses a new password; it is shown this once')
    .argument('<person_id>')
    .action(async (personId: string) => {
      const client = await connect();
      report.print(await client.createPasswordLink(personId), linkFields);
    });

  group
    .command('remove')
    .description('remove a person from the deployment for good')
    .argument('<person_id>')
    .action(async (personId: string) => {
      const client = await connect();
      report.print(await client.removePerson(personId), personFields);
    });
}

function linkFields({ token, expires_at }: PersonLink): string {
  return token === null
    ? 'The person was there already, and has the role now.'
    : fields({ 'link (behind the address of the service)': `/console/join#${token}`, expires: expires_at });
}

const personFields = ({ id, email, name, operator, role }: OperatorPerson): string =>
  fields({ id, email, name, role: operator ? 'operator' : (role ?? 'none') });

function invitationTable(invitations: readonly OperatorInvitation[]): string {
  const rows = invitations.map(({ email, role, created_at, expires_at }) => [
    email,
    role,
    shortTime(created_at),
    shortTime(expires_at),
  ]);
  return table(['EMAIL', 'ROLE', 'INVITED', 'UNTIL'], rows);
}

function peopleTable(people: readonly OperatorPerson[]): string {
  const rows = people.map(({ id, email, name, operator, role, created_at }) => [
    email,
    id,
    operator ? 'operator' : (role ?? ''),
    shortTime(created_at),
    name,
  ]);
  return table(['EMAIL', 'ID', 'ROLE', 'SINCE', 'NAME'], rows);
}
