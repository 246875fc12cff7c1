/** People, what they may do where, their sessions and the one-time links by which they come. */
import type { AccountRole } from '@trunkcall/contract';
import { statement } from './database.ts';

export interface PersonRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly password_hash: string;
  readonly operator: boolean;
  readonly created_at: Date;
}

const personColumns = 'p.id, p.email, p.name, p.password_hash, p.operator, p.created_at';

export const hasPeople = statement<{ readonly found: boolean }>(
  'has_people',
  'select exists (select 1 from people) as found',
);

/** Values: e-mail address in lower case. */
export const findPersonByEmail = statement<PersonRow>(
  'find_person_by_email',
  `select ${personColumns} from people p where p.email = $1 and p.removed_at is null`,
);

/** Holds the person until the transaction ends. Values: person id. */
export const lockPerson = statement<PersonRow>(
  'lock_person',
  `select ${personColumns} from people p where p.id = $1 and p.removed_at is null for no key update`,
);

/** No row: the address is taken. Values: id, e-mail, name, password hash, operator. */
export const insertPerson = statement<{ readonly id: string }>(
  'insert_person',
  `insert into people (id, email, name, password_hash, operator) values ($1, $2, $3, $4, $5)
   on conflict (email) where removed_at is null do nothing returning id`,
);

/** Values: person id, password hash. */
export const setPassword = statement<never>(
  'set_password',
  'update people set password_hash = $2 where id = $1',
);

/** Values: person id. */
export const removePerson = statement<never>(
  'remove_person',
  'update people set removed_at = now(), operator = false where id = $1',
);

/** Values: person id. */
export const makeOperator = statement<never>(
  'make_operator',
  'update people set operator = true where id = $1',
);

/** Holds all operators, in a fixed order, so that two of them can not remove one another. */
export const lockOperators = statement<{ readonly id: string }>(
  'lock_operators',
  'select id from people where operator and removed_at is null order by id for no key update',
);

/** Values: person id, account id, role. */
export const putMembership = statement<never>(
  'put_membership',
  `insert into memberships (person_id, account_id, role) values ($1, $2, $3)
   on conflict (person_id, account_id) do update set role = excluded.role`,
);

/** A row: the person had a role there. Values: person id, account id. */
export const deleteMembership = statement<{ readonly role: AccountRole }>(
  'delete_membership',
  'delete from memberships where person_id = $1 and account_id = $2 returning role',
);

/** Holds the owners of an account, in a fixed order, so that two of them can not take the role from one another. Values: account id. */
export const lockOwners = statement<{ readonly person_id: string }>(
  'lock_owners',
  `select person_id from memberships where account_id = $1 and role = 'owner'
   order by person_id for no key update`,
);

/** Values: person id. */
export const deleteMemberships = statement<never>(
  'delete_memberships',
  'delete from memberships where person_id = $1',
);

export interface MemberRow {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly operator: boolean;
  /** Null for an operator without a role in the account. */
  readonly role: AccountRole | null;
  readonly created_at: Date;
}

/** Who may look into an account, operators among them. Values: account id. */
export const listMembers = statement<MemberRow>(
  'list_members',
  `select p.id, p.email, p.name, p.operator, m.role, p.created_at
   from people p left join memberships m on m.person_id = p.id and m.account_id = $1
   where p.removed_at is null and (m.role is not null or p.operator) order by p.email`,
);

/** Values: person id, account id. */
export const findMembership = statement<{ readonly role: AccountRole }>(
  'find_membership',
  'select role from memberships where person_id = $1 and account_id = $2',
);

/** Values: hash, person id, idle limit and bound (seconds). */
export const insertSession = statement<never>(
  'insert_session',
  `insert into sessions (token_hash, person_id, expires_at, ends_at)
   values ($1, $2, now() + make_interval(secs => $3), now() + make_interval(secs => $4))`,
);

export interface SessionRow {
  readonly person_id: string;
  readonly email: string;
  readonly name: string;
  readonly operator: boolean;
  /** Role by account id. */
  readonly roles: Readonly<Record<string, AccountRole>>;
}

/** The session that is still good, with what its person may do now. Values: hash. */
export const findSession = statement<SessionRow>(
  'find_session',
  `select p.id as person_id, p.email, p.name, p.operator,
          coalesce((select json_object_agg(m.account_id, m.role) from memberships m where m.person_id = p.id), '{}'::json)
            as roles
   from sessions s join people p on p.id = s.person_id
   where s.token_hash = $1 and s.expires_at > now() and p.removed_at is null`,
);

/** Values: hash, idle limit (seconds). */
export const renewSession = statement<never>(
  'renew_session',
  `update sessions set expires_at = least(now() + make_interval(secs => $2), ends_at)
   where token_hash = $1 and expires_at > now()`,
);

/** Values: hash. */
export const deleteSession = statement<never>('delete_session', 'delete from sessions where token_hash = $1');

/** Values: person id. */
export const deleteSessions = statement<never>(
  'delete_sessions',
  'delete from sessions where person_id = $1',
);

/** Values: person id. */
export const deleteExpiredSessions = statement<never>(
  'delete_expired_sessions',
  'delete from sessions where person_id = $1 and expires_at <= now()',
);

export interface InvitationRow {
  readonly person_id: string | null;
  readonly email: string | null;
  readonly account_id: string | null;
  readonly role: AccountRole | null;
  readonly operator: boolean;
}

const invitationColumns = 'person_id, email, account_id, role, operator';

/** Values: hash, person id, e-mail, account id, role, operator, how long it is good (seconds). */
export const insertInvitation = statement<{ readonly expires_at: Date }>(
  'insert_invitation',
  `insert into invitations (token_hash, person_id, email, account_id, role, operator, expires_at)
   values ($1, $2, $3, $4, $5, $6, now() + make_interval(secs => $7)) returning expires_at`,
);

/** Values: hash. */
export const findInvitation = statement<InvitationRow>(
  'find_invitation',
  `select ${invitationColumns} from invitations where token_hash = $1 and expires_at > now()`,
);

/** A row: the link was good, and is used up with this transaction. Values: hash. */
export const takeInvitation = statement<InvitationRow>(
  'take_invitation',
  `delete from invitations where token_hash = $1 and expires_at > now() returning ${invitationColumns}`,
);

export interface OpenInvitationRow {
  readonly email: string;
  readonly role: AccountRole | null;
  readonly created_at: Date;
  readonly expires_at: Date;
}

/** Into an account, and with $2 of operators too. A null role: an operator's. Values: account id, whether. */
export const listInvitations = statement<OpenInvitationRow>(
  'list_invitations',
  `select email, role, created_at, expires_at from invitations
   where person_id is null and email is not null and expires_at > now() and (account_id = $1 or ($2 and operator))
   order by email, created_at`,
);

/** The same, for one address. Values: account id, whether those of operators too, e-mail. */
export const deleteInvitations = statement<OpenInvitationRow>(
  'delete_invitations',
  `delete from invitations
   where person_id is null and email = $3 and (account_id = $1 or ($2 and operator))
   returning email, role, created_at, expires_at`,
);

/** Wherever they lead to. Values: e-mail. */
export const deleteInvitationsTo = statement<never>(
  'delete_invitations_to',
  'delete from invitations where person_id is null and email = $1',
);

/** The links for a first person: one of them was followed. */
export const deleteOpenInvitations = statement<never>(
  'delete_open_invitations',
  'delete from invitations where email is null and person_id is null',
);

export const deleteExpiredInvitations = statement<never>(
  'delete_expired_invitations',
  'delete from invitations where expires_at <= now()',
);

/** Links to a new password that were not followed. Values: person id. */
export const deleteInvitationsOf = statement<never>(
  'delete_invitations_of',
  'delete from invitations where person_id = $1',
);
