import { scopes, type CreateKeyRequest, type Scope } from '@trunkcall/contract';
import { Option, type Command } from 'commander';
import type { Context } from '../program.ts';
import { fields, table } from '../report.ts';

interface CreateOptions {
  readonly account: string;
  readonly scope?: Scope[];
  readonly region?: string[];
  readonly expiresAt?: string;
}

export function keyCommands(group: Command, { connect, report }: Context): void {
  group
    .command('create')
    .description('create an API key; the key itself is shown this once')
    .requiredOption('--account <account>', 'id or name of the account')
    .addOption(new Option('--scope <scope...>', 'what the key may do (default: everything)').choices(scopes))
    .option('--region <region...>', 'regions whose Goals the key may run, such as US (default: all)')
    .option('--expires-at <time>', 'RFC 3339 time from which the key is refused (default: never)')
    .action(async (options: CreateOptions) => {
      const client = await connect();
      report.print(await client.createKey(requestFrom(options)), (key) =>
        fields({
          key: key.key,
          id: key.id,
          account: key.account_id,
          scopes: key.scopes.join(' '),
          regions: key.regions?.join(' ') ?? 'all',
          expires: key.expires_at ?? 'never',
        }),
      );
    });

  group
    .command('list')
    .description('list the keys of an account, oldest first')
    .requiredOption('--account <account>', 'id or name of the account')
    .action(async ({ account }: { account: string }) => {
      const client = await connect();
      report.print(await client.listKeys(account), ({ data }) =>
        table(
          ['id', 'scopes', 'created', 'expires', 'last used', 'revoked'],
          data.map((key) => [
            key.id,
            key.scopes.join(' '),
            key.created_at,
            key.expires_at ?? 'never',
            key.last_used_at ?? 'never',
            key.revoked_at ?? '',
          ]),
        ),
      );
    });

  group
    .command('revoke')
    .description('revoke a key for good; in force within 5 seconds')
    .argument('<key_id>')
    .action(async (keyId: string) => {
      const client = await connect();
      report.print(await client.revokeKey(keyId), ({ id, revoked_at }) =>
        fields({ id, revoked: revoked_at }),
      );
    });
}

function requestFrom({ account, scope, region, expiresAt }: CreateOptions): CreateKeyRequest {
  return {
    account,
    ...(scope === undefined ? {} : { scopes: scope }),
    ...(region === undefined ? {} : { regions: region }),
    ...(expiresAt === undefined ? {} : { expires_at: expiresAt }),
  };
}
