import {
  ChangeRoleRequest,
  InviteRequest,
  WithdrawInvitationRequest,
  type AccountRole,
  type OperatorInvitation,
  type OperatorPerson,
  type PersonLink,
} from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { getAccount } from '../../authoring/accounts.ts';
import {
  expel,
  invite,
  offerNewPassword,
  setRole,
  takeRole,
  withdrawInvitation,
  type Link,
} from '../../authoring/people.ts';
import type { Ids } from '../../platform/ids.ts';
import type { Database } from '../../storage/database.ts';
import {
  listInvitations,
  listMembers,
  type OpenInvitationRow,
  type PersonRow,
} from '../../storage/people.ts';
import { checker, readJson } from './sent.ts';
import { listOf } from './views.ts';

interface OfAccount {
  /** An id or a name. */
  Params: { account: string };
}
interface Member {
  Params: { account: string; person: string };
}
interface OnePerson {
  Params: { person: string };
}

export const checkInvite = checker(InviteRequest);
export const checkWithdraw = checker(WithdrawInvitationRequest);
export const checkRole = checker(ChangeRoleRequest);

/** No person does what is done with an operator token. */
const by = null;
const byOperator = true;

export function peopleRoutes(app: FastifyInstance, { db, ids }: { db: Database; ids: Ids }): void {
  app.get<OfAccount>('/accounts/:account/people', async ({ params }) => {
    const { id } = await getAccount(db, params.account);
    return listOf((await db.query(listMembers, [id])).map((row) => personView(row, row.role)));
  });

  app.post<OfAccount>('/accounts/:account/people', async (request, reply) => {
    const { email, role } = await readJson(request, checkInvite);
    const { id: accountId } = await getAccount(db, request.params.account);
    const link = await db.transaction((tx) => invite(tx, ids, { by, byOperator, accountId, email, role }));
    reply.code(201);
    return linkView(link);
  });

  app.get<OfAccount>('/accounts/:account/invitations', async ({ params }) => {
    const { id } = await getAccount(db, params.account);
    return listOf((await db.query(listInvitations, [id, true])).map(invitationView));
  });

  app.post<OfAccount>('/accounts/:account/invitations/withdraw', async (request) => {
    const { email } = await readJson(request, checkWithdraw);
    const { id: accountId } = await getAccount(db, request.params.account);
    const order = { by, accountId, email, operators: true };
    const gone = await db.transaction((tx) => withdrawInvitation(tx, ids, order));
    return listOf(gone.map(invitationView));
  });

  app.patch<Member>('/accounts/:account/people/:person', async (request) => {
    const { role } = await readJson(request, checkRole);
    const { account, person: personId } = request.params;
    const { id: accountId } = await getAccount(db, account);
    const order = { by, byOperator, accountId, personId, role };
    return personView(await db.transaction((tx) => setRole(tx, ids, order)), role);
  });

  app.post<Member>('/accounts/:account/people/:person/remove', async ({ params }) => {
    const { id: accountId } = await getAccount(db, params.account);
    const order = { by, byOperator, accountId, personId: params.person };
    return personView(await db.transaction((tx) => takeRole(tx, ids, order)), null);
  });

  app.post<OnePerson>('/people/:person/password_link', async ({ params }, reply) => {
    const link = await db.transaction((tx) => offerNewPassword(tx, ids, { by, personId: params.person }));
    reply.code(201);
    return linkView(link);
  });

  app.post<OnePerson>('/people/:person/remove', async ({ params }) =>
    personView(await db.transaction((tx) => expel(tx, ids, { by, personId: params.person })), null),
  );
}

export function personView(
  { id, email, name, operator, created_at }: Omit<PersonRow, 'password_hash'>,
  role: AccountRole | null,
): OperatorPerson {
  return { id, email, name, operator, role, created_at: created_at.toISOString() };
}

export const invitationView = (row: OpenInvitationRow): OperatorInvitation => ({
  email: row.email,
  role: row.role ?? 'operator',
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
});

export function linkView(link: Link | null): PersonLink {
  return link === null
    ? { token: null, expires_at: null }
    : { token: link.token, expires_at: link.expiresAt.toISOString() };
}
