/** The numbers that are ours: callees see them, nobody dials them, and Goals answer them. */
import type { RefusalReason } from '@trunkcall/contract';
import { statement } from './database.ts';
import { refusedToday } from './inbound.ts';

export interface NumberRow {
  readonly id: string;
  readonly phone: string;
  readonly label: string;
  readonly origin: 'entered';
  /** Null: shared by all accounts. */
  readonly account_id: string | null;
  /** Whether callees of its account see it. */
  readonly is_default: boolean;
  /** The Goal that answers calls to it. */
  readonly inbound_goal_id: string | null;
  readonly refused_today: Readonly<Partial<Record<RefusalReason, number>>>;
  readonly created_at: Date;
}

const columns = `n.id, n.phone, n.label, n.origin, n.account_id, n.inbound_goal_id, n.created_at,
  exists (select 1 from accounts a where a.id = n.account_id and a.default_number = n.phone) as is_default,
  ${refusedToday('n.id')} as refused_today`;

/** No row: it is there already. Values: id, phone, account id or null, label. */
export const insertNumber = statement<{ readonly id: string }>(
  'insert_number',
  `insert into numbers (id, phone, account_id, label) values ($1, $2, $3, $4)
   on conflict (phone) do nothing returning id`,
);

export const listNumbers = statement<NumberRow>(
  'list_numbers',
  `select ${columns} from numbers n order by n.id`,
);

/** An account's own numbers and those that all share. Values: account id. */
export const listNumbersOfAccount = statement<NumberRow>(
  'list_numbers_of_account',
  `select ${columns} from numbers n where n.account_id = $1 or n.account_id is null order by n.id`,
);

/** Values: id. */
export const findNumber = statement<NumberRow>(
  'find_number',
  `select ${columns} from numbers n where n.id = $1`,
);

/** Holds the number until the transaction ends. Values: id. */
export const lockNumber = statement<{ readonly id: string }>(
  'lock_number',
  'select id from numbers where id = $1 for no key update',
);

/** Values: id, label, account id or null, id of the Goal that answers or null. */
export const updateNumber = statement<never>(
  'update_number',
  'update numbers set label = $2, account_id = $3, inbound_goal_id = $4 where id = $1',
);

/** Removes a number that no account shows. No row: it is not there, or is shown. Values: id. */
export const deleteNumber = statement<{ readonly id: string }>(
  'delete_number',
  `delete from numbers n
   where n.id = $1 and not exists (select 1 from accounts a where a.id = n.account_id and a.default_number = n.phone)
   returning n.id`,
);

/** Whether a Goal answers one of our numbers. Values: goal id. */
export const findAnsweredNumber = statement<{ readonly id: string }>(
  'find_answered_number',
  'select id from numbers where inbound_goal_id = $1 limit 1',
);
