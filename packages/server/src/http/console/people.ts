import type { FastifyInstance } from 'fastify';
import {
  expel,
  invite,
  offerNewPassword,
  setRole,
  takeRole,
  withdrawInvitation,
} from '../../authoring/people.ts';
import type { Session } from '../../authoring/sessions.ts';
import { listInvitations, listMembers } from '../../storage/people.ts';
import {
  checkInvite,
  checkRole,
  checkWithdraw,
  invitationView,
  linkView,
  personView,
} from '../operator/people.ts';
import { readJson } from '../operator/sent.ts';
import { listOf } from '../operator/views.ts';
import { requireOperator, requireRight } from './access.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';

interface OfAccount {
  Params: { account: string };
}
interface Member {
  Params: { account: string; person: string };
}
interface OnePerson {
  Params: { person: string };
}

const doerOf = ({ person_id: by, operator: byOperator }: Session) => ({ by, byOperator });

export function peopleRoutes(app: FastifyInstance, { db, ids }: ConsoleDeps): void {
  app.get<OfAccount>('/accounts/:account/people', async (request) => {
    const { account } = request.params;
    requireRight(visitorOf(request).session, account, 'person.manage');
    const rows = await db.query(listMembers, [account]);
    return listOf(rows.map((row) => personView(row, row.role)));
  });

  app.post<OfAccount>('/accounts/:account/people', async (request, reply) => {
    const { session } = visitorOf(request);
    const { account: accountId } = request.params;
    requireRight(session, accountId, 'person.manage');
    const { email, role } = await readJson(request, checkInvite);
    if (role === 'operator') requireOperator(session);
    const order = { ...doerOf(session), accountId, email, role };
    const link = await db.transaction((tx) => invite(tx, ids, order));
    reply.code(201);
    return linkView(link);
  });

  // Those of operators are shown to operators alone, who may withdraw them.
  app.get<OfAccount>('/accounts/:account/invitations', async (request) => {
    const { session } = visitorOf(request);
    const { account } = request.params;
    requireRight(session, account, 'person.manage');
    return listOf((await db.query(listInvitations, [account, session.operator])).map(invitationView));
  });

  app.post<OfAccount>('/accounts/:account/invitations/withdraw', async (request, reply) => {
    const { session } = visitorOf(request);
    const { account: accountId } = request.params;
    requireRight(session, accountId, 'person.manage');
    const { email } = await readJson(request, checkWithdraw);
    const order = { by: session.person_id, accountId, email, operators: session.operator };
    await db.transaction((tx) => withdrawInvitation(tx, ids, order));
    reply.code(204);
  });

  app.put<Member>('/accounts/:account/people/:person', async (request, reply) => {
    const { session } = visitorOf(request);
    const { account: accountId, person: personId } = request.params;
    requireRight(session, accountId, 'person.manage');
    const { role } = await readJson(request, checkRole);
    await db.transaction((tx) => setRole(tx, ids, { ...doerOf(session), accountId, personId, role }));
    reply.code(204);
  });

  app.delete<Member>('/accounts/:account/people/:person', async (request, reply) => {
    const { session } = visitorOf(request);
    const { account: accountId, person: personId } = request.params;
    requireRight(session, accountId, 'person.manage');
    await db.transaction((tx) => takeRole(tx, ids, { ...doerOf(session), accountId, personId }));
    reply.code(204);
  });

  app.post<OnePerson>('/people/:person/password-link', async (request, reply) => {
    const { session } = visitorOf(request);
    requireOperator(session);
    const order = { by: session.person_id, personId: request.params.person };
    const link = await db.transaction((tx) => offerNewPassword(tx, ids, order));
    reply.code(201);
    return linkView(link);
  });

  app.delete<OnePerson>('/people/:person', async (request, reply) => {
    const { session } = visitorOf(request);
    requireOperator(session);
    const order = { by: session.person_id, personId: request.params.person };
    await db.transaction((tx) => expel(tx, ids, order));
    reply.code(204);
  });
}
