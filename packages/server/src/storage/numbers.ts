/** The numbers that are ours: callees see them, and nobody dials them. */
import { statement } from './database.ts';

export interface NumberRow {
  readonly id: string;
  readonly phone: string;
  /** Null: shared by all accounts. */
  readonly account_id: string | null;
  readonly created_at: Date;
}

const columns = 'id, phone, account_id, created_at';

/** No row: it is there already. Values: id, phone, account id or null. */
export const insertNumber = statement<NumberRow>(
  'insert_number',
  `insert into numbers (id, phone, account_id) values ($1, $2, $3) on conflict (phone) do nothing returning ${columns}`,
);

export const listNumbers = statement<NumberRow>('list_numbers', `select ${columns} from numbers order by id`);

/** Values: id. */
export const findNumber = statement<NumberRow>('find_number', `select ${columns} from numbers where id = $1`);

/** Removes a number that no account shows. No row: it is not there, or is shown. Values: id. */
export const deleteNumber = statement<NumberRow>(
  'delete_number',
  `delete from numbers n
   where n.id = $1 and not exists (select 1 from accounts a where a.id = n.account_id and a.default_number = n.phone)
   returning ${columns}`,
);
