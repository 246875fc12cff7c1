import { CreateAccountRequest, UpdateAccountRequest } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { changeAccount, createAccount } from '../../authoring/accounts.ts';
import { recordChange } from '../../authoring/audit.ts';
import { listAccounts } from '../../storage/accounts.ts';
import { accountView } from '../operator/accounts.ts';
import { checker, readJson } from '../operator/sent.ts';
import { listOf } from '../operator/views.ts';
import { requireOperator, roleIn } from './access.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';

const checkCreate = checker(CreateAccountRequest);
const checkUpdate = checker(UpdateAccountRequest);

export function accountRoutes(app: FastifyInstance, { db, ids }: ConsoleDeps): void {
  app.get('/accounts', async (request) => {
    const { session } = visitorOf(request);
    const rows = await db.query(listAccounts);
    return listOf(rows.filter(({ id }) => roleIn(session, id) !== null).map(accountView));
  });

  app.post('/accounts', async (request, reply) => {
    const { session } = visitorOf(request);
    requireOperator(session);
    const { name } = await readJson(request, checkCreate);
    const account = await db.transaction(async (tx) => {
      const made = await createAccount(tx, ids, name);
      const change = { by: session.person_id, accountId: made.id, objectId: made.id };
      await recordChange(tx, ids, { ...change, action: 'account.created', details: { name } });
      return made;
    });
    reply.code(201);
    return accountView(account);
  });

  app.patch<{ Params: { account: string } }>('/accounts/:account', async (request) => {
    const { session } = visitorOf(request);
    requireOperator(session);
    const details = await readJson(request, checkUpdate);
    const account = await db.transaction(async (tx) => {
      const changed = await changeAccount(tx, request.params.account, details);
      const change = { by: session.person_id, accountId: changed.id, objectId: changed.id };
      await recordChange(tx, ids, { ...change, action: 'account.limited', details });
      return changed;
    });
    return accountView(account);
  });
}
