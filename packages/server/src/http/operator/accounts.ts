import { CreateAccountRequest, UpdateAccountRequest, type OperatorAccount } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { createAccount, getAccount, limitAccount } from '../../authoring/accounts.ts';
import type { Ids } from '../../platform/ids.ts';
import { listAccounts, type AccountRow } from '../../storage/accounts.ts';
import type { Queryable } from '../../storage/database.ts';
import { checker, readJson } from './sent.ts';
import { listOf } from './views.ts';

/** `account` is an id or a name. */
interface OneAccount {
  Params: { account: string };
}

const checkCreate = checker(CreateAccountRequest);
const checkUpdate = checker(UpdateAccountRequest);

export function accountRoutes(app: FastifyInstance, { db, ids }: { db: Queryable; ids: Ids }): void {
  app.post('/accounts', async (request, reply) => {
    const { name } = await readJson(request, checkCreate);
    reply.code(201);
    return accountView(await createAccount(db, ids, name));
  });

  app.get('/accounts', async () => listOf((await db.query(listAccounts)).map(accountView)));

  app.get<OneAccount>('/accounts/:account', async (request) =>
    accountView(await getAccount(db, request.params.account)),
  );

  app.patch<OneAccount>('/accounts/:account', async (request) => {
    const { max_active_calls } = await readJson(request, checkUpdate);
    return accountView(await limitAccount(db, request.params.account, max_active_calls));
  });
}

function accountView(row: AccountRow): OperatorAccount {
  const { id, name, max_active_calls, active_calls, created_at } = row;
  return { id, name, max_active_calls, active_calls, created_at: created_at.toISOString() };
}
