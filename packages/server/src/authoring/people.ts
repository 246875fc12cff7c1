/**
 * People of the console: how they come, what they may do, how they go. Every function that changes something must be
 * given a transaction, and notes in the audit log what it changed.
 *
 * One-time links carry 256 random bits; stored is their SHA-256. Following one uses it up in the same transaction.
 */
import type { AccountRole, ConsoleLink, ConsoleRole } from '@trunkcall/contract';
import { isId, unprintable } from '@trunkcall/contract';
import type { Ids } from '../platform/ids.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Queryable } from '../storage/database.ts';
import {
  deleteExpiredInvitations,
  deleteInvitations,
  deleteInvitationsOf,
  deleteInvitationsTo,
  deleteMembership,
  deleteMemberships,
  deleteOpenInvitations,
  findInvitation,
  findMembership,
  findPersonByEmail,
  hasPeople,
  insertInvitation,
  insertPerson,
  lockOperators,
  lockOwners,
  lockPerson,
  makeOperator,
  putMembership,
  removePerson,
  setPassword,
  takeInvitation,
  type InvitationRow,
  type OpenInvitationRow,
  type PersonRow,
} from '../storage/people.ts';
import { recordChange } from './audit.ts';
import { isPassword } from './passwords.ts';
import { endSessions, hashSecret, newSecret } from './sessions.ts';

/** The first link is printed where others may read it too. */
const firstLinkSeconds = 3_600;
const invitationSeconds = 7 * 24 * 3_600;
const newPasswordSeconds = 24 * 3_600;

const emailForm = /^[^\s@<>"(),:;\\[\]]{1,64}@[^\s@<>"(),:;\\[\]]{1,189}$/;

/** An address in the form in which addresses are compared. Throws: Refusal `invalid_request`. */
function normalEmail(sent: string): string {
  const email = sent.trim().normalize('NFC').toLowerCase();
  if (!emailForm.test(email) || unprintable('printable-line', email) !== undefined) {
    throw new Refusal('invalid_request', 'email must be an e-mail address');
  }
  return email;
}

/**
 * A link by which the first person comes, as an operator; null when there are people. Several processes may each have
 * one; the first that is followed ends the others.
 */
export async function inviteFirstPerson(tx: Queryable): Promise<string | null> {
  const [people] = await tx.query(hasPeople);
  if (people?.found === true) return null;
  await tx.query(deleteExpiredInvitations);
  const token = newSecret();
  await tx.query(insertInvitation, [hashSecret(token), null, null, null, null, true, firstLinkSeconds]);
  return token;
}

export interface Link {
  readonly token: string;
  readonly expiresAt: Date;
}

/**
 * Gives a person a role in an account, or makes an operator. Ends with a link for somebody new; null for a person who
 * is there already and has the role from the commit on. An older link for the address to the same place ends.
 */
export async function invite(
  tx: Queryable,
  ids: Ids,
  order: {
    readonly by: string | null;
    readonly byOperator: boolean;
    readonly accountId: string;
    readonly email: string;
    readonly role: ConsoleRole;
  },
): Promise<Link | null> {
  const { by, byOperator, accountId, role } = order;
  const email = normalEmail(order.email);
  const [person] = await tx.query(findPersonByEmail, [email]);
  const operator = role === 'operator';
  if (person !== undefined) {
    if (operator) throw new Refusal('already_exists', 'this person exists already; invite another address');
    await setRole(tx, ids, { by, byOperator, accountId, personId: person.id, role });
    return null;
  }
  await tx.query(deleteExpiredInvitations);
  await tx.query(deleteInvitations, [operator ? null : accountId, operator, email]);
  const token = newSecret();
  const place = operator ? [null, null] : [accountId, role];
  const values = [hashSecret(token), null, email, ...place, operator, invitationSeconds];
  const [link] = await tx.query(insertInvitation, values);
  const details = { email, role };
  const where = operator ? null : accountId;
  await recordChange(tx, ids, { by, accountId: where, action: 'person.invited', objectId: email, details });
  return { token, expiresAt: link?.expires_at ?? new Date(0) };
}

/**
 * Ends the links for an address into an account; with `operators` those by which it would become an operator, too. Ends
 * with what they were. Throws: Refusal `not_found`.
 */
export async function withdrawInvitation(
  tx: Queryable,
  ids: Ids,
  order: {
    readonly by: string | null;
    readonly accountId: string;
    readonly email: string;
    readonly operators: boolean;
  },
): Promise<OpenInvitationRow[]> {
  const { by, accountId, operators } = order;
  const email = normalEmail(order.email);
  const gone = await tx.query(deleteInvitations, [accountId, operators, email]);
  if (gone.length === 0) throw new Refusal('not_found', 'there is no open invitation for this address');
  for (const { role } of gone) {
    const details = { email, role: role ?? 'operator' };
    const change = { by, accountId: role === null ? null : accountId, objectId: email, details };
    await recordChange(tx, ids, { ...change, action: 'person.invitation_withdrawn' });
  }
  return gone;
}

/** What a link is for. Throws: Refusal `not_found` when it is used up, too old, or none. */
export async function lookAtLink(db: Queryable, token: string): Promise<ConsoleLink> {
  const [link] = await db.query(findInvitation, [hashSecret(token)]);
  if (link === undefined) throw usedUp();
  const { email, role, operator } = link;
  return { purpose: await purposeOf(db, link), email, role: operator ? 'operator' : role };
}

async function purposeOf(
  db: Queryable,
  { person_id, email }: InvitationRow,
): Promise<ConsoleLink['purpose']> {
  if (person_id !== null) return 'new_password';
  if (email === null) return 'first_person';
  const [person] = await db.query(findPersonByEmail, [email]);
  return person === undefined ? 'invitation' : 'role';
}

export interface FollowedLink {
  readonly token: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly passwordHash: string;
}

/**
 * Makes a link's person, or sets the new password of one; the link is used up. Ends with the person's id.
 *
 * Throws: Refusal `not_found` for a link that is not good (any more), `invalid_request`, `already_exists`.
 */
export async function followLink(tx: Queryable, ids: Ids, order: FollowedLink): Promise<string> {
  const [link] = await tx.query(takeInvitation, [hashSecret(order.token)]);
  if (link === undefined) throw usedUp();
  return link.person_id === null
    ? join(tx, ids, link, order)
    : choosePassword(tx, ids, link.person_id, order.passwordHash, 'person.followed_password_link');
}

/**
 * Gives the role of a link to the person whom it invites, who was recognised by the password: whoever invited knows the
 * link, too. The link is used up. Throws: Refusal `not_found`.
 */
export async function takeUpInvitation(
  tx: Queryable,
  ids: Ids,
  order: { readonly token: string; readonly personId: string },
): Promise<void> {
  const { token, personId } = order;
  const person = await lock(tx, personId);
  const [link] = await tx.query(takeInvitation, [hashSecret(token)]);
  if (link?.email !== person.email || link.person_id !== null) throw usedUp();
  const { account_id: accountId, role } = link;
  if (link.operator) await tx.query(makeOperator, [personId]);
  if (accountId !== null && role !== null) await tx.query(putMembership, [personId, accountId, role]);
  const details = { email: person.email, role: link.operator ? 'operator' : role };
  const change = { by: personId, accountId, objectId: personId, details };
  await recordChange(tx, ids, { ...change, action: 'person.followed_invitation' });
}

async function join(tx: Queryable, ids: Ids, link: InvitationRow, order: FollowedLink): Promise<string> {
  // Somebody else's try with another such link waits here, and then finds its own gone.
  if (link.email === null) await tx.query(deleteOpenInvitations);
  const email = link.email ?? normalEmail(order.email ?? '');
  const name = (order.name ?? '').trim();
  if (name === '') throw new Refusal('invalid_request', 'name is missing');
  const id = ids.next('prsn');
  const [person] = await tx.query(insertPerson, [id, email, name, order.passwordHash, link.operator]);
  if (person === undefined) throw new Refusal('already_exists', 'this address belongs to a person already');
  const { account_id: accountId, role } = link;
  if (accountId !== null && role !== null) await tx.query(putMembership, [id, accountId, role]);
  const details = { email, role: link.operator ? 'operator' : role };
  await recordChange(tx, ids, { by: id, accountId, action: 'person.joined', objectId: id, details });
  return id;
}

/** Sets a password and ends all sessions of the person. */
export async function choosePassword(
  tx: Queryable,
  ids: Ids,
  personId: string,
  passwordHash: string,
  action = 'person.changed_password',
): Promise<string> {
  await lock(tx, personId);
  await tx.query(setPassword, [personId, passwordHash]);
  await tx.query(deleteInvitationsOf, [personId]);
  await endSessions(tx, personId);
  await recordChange(tx, ids, { by: personId, accountId: null, action, objectId: personId });
  return personId;
}

/** The person with this address and password; null when there is none. Takes the same time either way. */
export async function recognise(db: Queryable, email: string, password: string): Promise<PersonRow | null> {
  const [person] = email.includes('\u0000') ? [] : await db.query(findPersonByEmail, [email]);
  return (await isPassword(password, person?.password_hash ?? null)) ? (person ?? null) : null;
}

/** A link by which a person chooses a new password; an older one ends. Throws: Refusal `not_found`. */
export async function offerNewPassword(
  tx: Queryable,
  ids: Ids,
  order: { readonly by: string | null; readonly personId: string },
): Promise<Link> {
  const { by, personId } = order;
  const { email } = await lock(tx, personId);
  await tx.query(deleteInvitationsOf, [personId]);
  const token = newSecret();
  const values = [hashSecret(token), personId, email, null, null, false, newPasswordSeconds];
  const [link] = await tx.query(insertInvitation, values);
  const action = 'person.password_link_made';
  await recordChange(tx, ids, { by, accountId: null, action, objectId: personId });
  return { token, expiresAt: link?.expires_at ?? new Date(0) };
}

interface RoleChange {
  /** Null: whoever holds an operator token. */
  readonly by: string | null;
  /** Whether they run the deployment. */
  readonly byOperator: boolean;
  readonly accountId: string;
  readonly personId: string;
}

/** Throws: Refusal `forbidden` when an account would have no owner any more; an operator may do that. */
async function keepAnOwner(tx: Queryable, { byOperator, accountId, personId }: RoleChange): Promise<void> {
  const owners = await tx.query(lockOwners, [accountId]);
  if (byOperator || owners.length !== 1 || owners[0]?.person_id !== personId) return;
  throw new Refusal('forbidden', 'the account would have no owner any more; make somebody else one first');
}

/** Gives a person another role in an account; ends with the person. Throws: Refusal `not_found`, `forbidden` for the last owner. Safe to repeat: yes. */
export async function setRole(
  tx: Queryable,
  ids: Ids,
  order: RoleChange & { readonly role: AccountRole },
): Promise<PersonRow> {
  const { by, accountId, personId, role } = order;
  if (role !== 'owner') await keepAnOwner(tx, order);
  const person = await lock(tx, personId);
  await tx.query(deleteInvitations, [accountId, false, person.email]);
  const [before] = await tx.query(findMembership, [personId, accountId]);
  if (before?.role === role) return person;
  await tx.query(putMembership, [personId, accountId, role]);
  const details = { role, before: before?.role ?? null };
  await recordChange(tx, ids, { by, accountId, action: 'person.role_set', objectId: personId, details });
  return person;
}

/** Takes a person's role in an account away, with the links that would give one; ends with the person. Throws: Refusal
 * `not_found`, `forbidden` for the last owner. */
export async function takeRole(tx: Queryable, ids: Ids, order: RoleChange): Promise<PersonRow> {
  const { by, accountId, personId } = order;
  await keepAnOwner(tx, order);
  const person = await lock(tx, personId);
  const [gone] = await tx.query(deleteMembership, [personId, accountId]);
  if (gone === undefined) throw missingPerson();
  await tx.query(deleteInvitations, [accountId, false, person.email]);
  const details = { before: gone.role };
  await recordChange(tx, ids, { by, accountId, action: 'person.role_taken', objectId: personId, details });
  return person;
}

/** Removes a person from the deployment for good, with all links to the address; ends with who it was. Throws: Refusal `not_found`, `forbidden` for the last operator. */
export async function expel(
  tx: Queryable,
  ids: Ids,
  order: { readonly by: string | null; readonly personId: string },
): Promise<PersonRow> {
  const { by, personId } = order;
  // The operators first: two who remove one another wait here.
  const operators = await tx.query(lockOperators);
  const person = await lock(tx, personId);
  if (operators.length === 1 && operators[0]?.id === personId) {
    throw new Refusal('forbidden', 'the last operator can not be removed');
  }
  await tx.query(deleteMemberships, [personId]);
  await tx.query(deleteInvitationsOf, [personId]);
  await tx.query(deleteInvitationsTo, [person.email]);
  await endSessions(tx, personId);
  await tx.query(removePerson, [personId]);
  await recordChange(tx, ids, { by, accountId: null, action: 'person.removed', objectId: personId });
  return person;
}

async function lock(tx: Queryable, personId: string): Promise<PersonRow> {
  const [person] = isId('prsn', personId) ? await tx.query(lockPerson, [personId]) : [];
  if (person === undefined) throw missingPerson();
  return person;
}

const missingPerson = () => new Refusal('not_found', 'there is no such person');
const usedUp = () => new Refusal('not_found', 'this link was used already, is too old, or never was one');
