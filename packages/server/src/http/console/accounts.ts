import {
  CreateAccountRequest,
  UpdateAccountRequest,
  type ConsoleAccountSettings,
  type ConsoleAction,
} from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { changeAccount, createAccount, getAccount } from '../../authoring/accounts.ts';
import { recordChange } from '../../authoring/audit.ts';
import { beginWaitingTasks } from '../../calls/advance.ts';
import { listAccounts } from '../../storage/accounts.ts';
import { listNumbersOfAccount } from '../../storage/numbers.ts';
import { accountView } from '../operator/accounts.ts';
import { numberView } from '../operator/numbers.ts';
import { checker, readJson } from '../operator/sent.ts';
import { listOf } from '../operator/views.ts';
import { requireOperator, requireRight, roleIn } from './access.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';

interface OneAccount {
  /** An id. */
  Params: { account: string };
}

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

  app.get<OneAccount>('/accounts/:account/settings', async (request): Promise<ConsoleAccountSettings> => {
    const { account } = request.params;
    requireRight(visitorOf(request).session, account, 'account.read');
    const numbers = await db.query(listNumbersOfAccount, [account]);
    const own = numbers.filter(({ account_id }) => account_id === account);
    return { account: accountView(await getAccount(db, account)), numbers: own.map(numberView) };
  });

  app.patch<OneAccount>('/accounts/:account', async (request) => {
    const { session } = visitorOf(request);
    const asked = await readJson(request, checkUpdate);
    requireRight(session, request.params.account, rightFor(asked));
    // What has a record of its own is not written down twice.
    const { disclosure: _, ...details } = asked;
    const account = await db.transaction(async (tx) => {
      const by = session.person_id;
      const changed = await changeAccount(tx, ids, request.params.account, asked, by);
      const change = { by, accountId: changed.id, objectId: changed.id };
      if (Object.keys(details).length > 0)
        await recordChange(tx, ids, { ...change, action: 'account.changed', details });
      // With more room, call tasks that waited for it begin.
      await beginWaitingTasks(tx, ids, changed.id);
      return changed;
    });
    return accountView(account);
  });
}

/** Limits protect the deployment from the account; the rest is the account's own affair. */
function rightFor({
  region: _region,
  default_number: _number,
  ...limits
}: UpdateAccountRequest): ConsoleAction {
  return Object.keys(limits).length > 0 ? 'deployment.manage' : 'account.manage';
}
