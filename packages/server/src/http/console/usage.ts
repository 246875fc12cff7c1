/** What calls would cost, for whoever may read the account; and its budget, which its owners set. */
import { SetBudgetRequest } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { changeAccount, getAccount } from '../../authoring/accounts.ts';
import { recordChange } from '../../authoring/audit.ts';
import { accountView } from '../operator/accounts.ts';
import { checker, readJson } from '../operator/sent.ts';
import { answerDeploymentUsage, answerUsage } from '../operator/usage.ts';
import { requireOperator, requireRight } from './access.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';

interface OneAccount {
  Params: { account: string };
}

const checkBudget = checker(SetBudgetRequest);

export function usageRoutes(app: FastifyInstance, { db, ids, clock }: ConsoleDeps): void {
  app.get<OneAccount>('/accounts/:account/usage', async (request, reply) => {
    const { account } = request.params;
    requireRight(visitorOf(request).session, account, 'account.read');
    return answerUsage({ db, clock }, await getAccount(db, account), request, reply);
  });

  app.put<OneAccount>('/accounts/:account/budget', async (request) => {
    const { session } = visitorOf(request);
    const { account: id } = request.params;
    requireRight(session, id, 'budget.write');
    const details = await readJson(request, checkBudget);
    const account = await db.transaction(async (tx) => {
      const changed = await changeAccount(tx, ids, id, details, session.person_id);
      const change = { by: session.person_id, accountId: changed.id, objectId: changed.id };
      await recordChange(tx, ids, { ...change, action: 'account.budget', details });
      return changed;
    });
    return accountView(account);
  });

  app.get('/usage', async (request, reply) => {
    requireOperator(visitorOf(request).session);
    return answerDeploymentUsage({ db, clock }, request, reply);
  });
}
