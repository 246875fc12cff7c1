/** What people changed in the console. Rows are only ever added; the database refuses everything else. */
import { statement } from './database.ts';

/** Values: id, person id (null: the program), account id (null: the deployment), action, object id, details (JSON text). */
export const insertAuditEntry = statement<never>(
  'insert_audit_entry',
  `insert into audit_log (id, person_id, account_id, action, object_id, details)
   values ($1, $2, $3, $4, $5, $6::json)`,
);

export interface AuditRow {
  readonly id: string;
  readonly person_id: string | null;
  readonly person_name: string | null;
  readonly account_id: string | null;
  readonly action: string;
  readonly object_id: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly created_at: Date;
}

/** Whether a person noted something lately. Values: entry id, person id, action, object id, milliseconds. */
export const findHearing = statement<{ readonly id: string }>(
  'find_recent_audit_entry',
  `select id from audit_log where id = $1 and person_id = $2 and action = $3 and object_id = $4
     and created_at > now() - $5 * interval '1 millisecond'`,
);

/** The newest entry about an object. Values: account id, object id, id to look behind. */
export const findNewestNote = statement<Pick<AuditRow, 'person_id' | 'action'>>(
  'find_newest_audit_entry',
  `select person_id, action from audit_log where account_id = $1 and object_id = $2 and id > $3
   order by id desc limit 1`,
);

const columns = `a.id, a.person_id, p.name as person_name, a.account_id, a.action, a.object_id, a.details, a.created_at`;
const tables = 'audit_log a left join people p on p.id = a.person_id';

/** Newest first. Values: account id, id to continue behind (null: from the newest), most rows. */
export const listAccountAudit = statement<AuditRow>(
  'list_account_audit',
  `select ${columns} from ${tables}
   where a.account_id = $1 and a.id < coalesce($2, 'aud_~') order by a.id desc limit $3`,
);

/** Of all accounts and of the deployment itself, newest first. Values: id to continue behind (null), most rows. */
export const listAudit = statement<AuditRow>(
  'list_audit',
  `select ${columns} from ${tables} where a.id < coalesce($1, 'aud_~') order by a.id desc limit $2`,
);
