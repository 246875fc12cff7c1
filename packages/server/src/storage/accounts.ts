import { statement } from './database.ts';

export interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly max_active_calls: number;
  readonly active_calls: number;
  readonly max_inbound_calls: number;
  readonly active_inbound_calls: number;
  readonly max_active_tasks: number | null;
  readonly region: string;
  /** Id of the number. */
  readonly default_number: string | null;
  /** Millionths of a US dollar; null: none. */
  readonly monthly_budget: string | null;
  /** Since when calls do not say that an automated assistant is calling; null: they do. */
  readonly disclosure_off_at: Date | null;
  readonly disclosure_off_reason: string | null;
  /** Name of the person who switched it off; null: by the operator API. */
  readonly disclosure_off_by: string | null;
  readonly created_at: Date;
}

const columns = `id, name, max_active_calls, active_calls, max_inbound_calls, active_inbound_calls, max_active_tasks, region,
  (select n.id from numbers n where n.phone = default_number) as default_number,
  monthly_budget::text, disclosure_off_at, disclosure_off_reason,
  (select p.name from people p where p.id = disclosure_off_by) as disclosure_off_by, created_at`;

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

/** Values: id, reason (null: calls say it again), id of who decided (null: by the operator API). */
export const setDisclosure = statement<AccountRow>(
  'set_disclosure',
  `update accounts set disclosure_off_reason = $2::text,
                      disclosure_off_at = case when $2::text is null then null else now() end,
                      disclosure_off_by = case when $2::text is null then null else $3::text end
   where id = $1 returning ${columns}`,
);

/**
 * Values: id, most calls at a time, most call tasks (null: by its lines), region, id of its default number or null,
 * monthly budget or null, most inbound calls at a time.
 */
export const updateAccount = statement<AccountRow>(
  'update_account',
  `update accounts set max_active_calls = $2, max_active_tasks = $3, region = $4,
                      default_number = (select n.phone from numbers n where n.id = $5), monthly_budget = $6::bigint,
                      max_inbound_calls = $7
   where id = $1 returning ${columns}`,
);
