import { CreateAccountRequest, UpdateAccountRequest, type OperatorAccount } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { changeAccount, createAccount, getAccount } from '../../authoring/accounts.ts';
import { recordOperatorChange } from '../../authoring/audit.ts';
import { beginWaitingTasks } from '../../calls/advance.ts';
import type { Ids } from '../../platform/ids.ts';
import { formatAmount } from '../../platform/money.ts';
import { listAccounts, type AccountRow } from '../../storage/accounts.ts';
import type { Database } from '../../storage/database.ts';
import { checker, readJson } from './sent.ts';
import { listOf } from './views.ts';

/** `account` is an id or a name. */
interface OneAccount {
  Params: { account: string };
}

const checkCreate = checker(CreateAccountRequest);
const checkUpdate = checker(UpdateAccountRequest);

export function accountRoutes(app: FastifyInstance, { db, ids }: { db: Database; ids: Ids }): void {
  app.post('/accounts', async (request, reply) => {
    const { name } = await readJson(request, checkCreate);
    const account = await db.transaction(async (tx) => {
      const made = await createAccount(tx, ids, name);
      const change = { accountId: made.id, objectId: made.id, action: 'account.created', details: { name } };
      await recordOperatorChange(tx, ids, change);
      return made;
    });
    reply.code(201);
    return accountView(account);
  });

  app.get('/accounts', async () => listOf((await db.query(listAccounts)).map(accountView)));

  app.get<OneAccount>('/accounts/:account', async (request) =>
    accountView(await getAccount(db, request.params.account)),
  );

  app.patch<OneAccount>('/accounts/:account', async (request) => {
    const asked = await readJson(request, checkUpdate);
    // What has a record of its own is not written down twice.
    const { disclosure: _, ...details } = asked;
    const account = await db.transaction(async (tx) => {
      const changed = await changeAccount(tx, ids, request.params.account, asked, null);
      const change = { accountId: changed.id, objectId: changed.id, action: 'account.changed', details };
      if (Object.keys(details).length > 0) await recordOperatorChange(tx, ids, change);
      // With more room, call tasks that waited for it begin.
      await beginWaitingTasks(tx, ids, changed.id);
      return changed;
    });
    return accountView(account);
  });
}

export function accountView(row: AccountRow): OperatorAccount {
  const { disclosure_off_at: offAt, disclosure_off_reason: reason, disclosure_off_by: by, ...rest } = row;
  const { monthly_budget: budget, created_at } = row;
  return {
    ...rest,
    disclosure:
      offAt === null || reason === null ? { off: false } : { off: true, reason, by, at: offAt.toISOString() },
    monthly_budget: budget === null ? null : formatAmount(BigInt(budget)),
    created_at: created_at.toISOString(),
  };
}
