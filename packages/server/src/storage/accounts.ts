import { statement } from './database.ts';

export interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly max_active_calls: number;
  readonly active_calls: number;
  readonly created_at: Date;
}

const columns = 'id, name, max_active_calls, active_calls, created_at';

/** No row: the name is taken. Values: id, name, most calls at a time. */
export const insertAccount = statement<AccountRow>(
  'insert_account',
  `insert into accounts (id, name, max_active_calls) values ($1, $2, $3)
   on conflict (name) do nothing returning ${columns}`,
);

export const listAccounts = statement<AccountRow>(
  'list_accounts',
  `select ${columns} from accounts order by name`,
);

/** Values: account id or name. */
export const findAccount = statement<AccountRow>(
  'find_account',
  `select ${columns} from accounts where id = $1 union all
   select ${columns} from accounts where name = $1 limit 1`,
);

/** Values: id, most calls at a time. */
export const setAccountLimit = statement<AccountRow>(
  'set_account_limit',
  `update accounts set max_active_calls = $2 where id = $1 returning ${columns}`,
);
