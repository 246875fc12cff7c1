import { AddNumberRequest, RingRequest, UpdateNumberRequest, type OperatorNumber } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { getAccount } from '../../authoring/accounts.ts';
import { addNumber, changeNumber, getNumber, removeNumber } from '../../authoring/numbers.ts';
import type { Session } from '../../authoring/sessions.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { Queryable } from '../../storage/database.ts';
import { listNumbersOfAccount, type NumberRow } from '../../storage/numbers.ts';
import { numberView } from '../operator/numbers.ts';
import { checker, readJson } from '../operator/sent.ts';
import { listOf } from '../operator/views.ts';
import { requireOperator, requireRight, roleIn } from './access.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';

interface OneNumber {
  Params: { number: string };
}

const checkAdd = checker(AddNumberRequest);
const checkUpdate = checker(UpdateNumberRequest);
const checkRing = checker(RingRequest);

/** Operators enter numbers and say whose they are; an account's owner says what its own ones are for. */
export function numberRoutes(app: FastifyInstance, { db, ids, ringNumber }: ConsoleDeps): void {
  app.get<{ Params: { account: string } }>('/accounts/:account/numbers', async (request) => {
    const { account } = request.params;
    requireRight(visitorOf(request).session, account, 'account.read');
    return listOf((await db.query(listNumbersOfAccount, [account])).map(numberView));
  });

  app.post('/numbers', async (request, reply): Promise<OperatorNumber> => {
    const { session } = visitorOf(request);
    requireOperator(session);
    const { phone, account, label = '' } = await readJson(request, checkAdd);
    const accountId = account === undefined ? null : (await getAccount(db, account)).id;
    const number = await db.transaction((tx) =>
      addNumber(tx, ids, { phone, accountId, label }, session.person_id),
    );
    reply.code(201);
    return numberView(number);
  });

  app.patch<OneNumber>('/numbers/:number', async (request): Promise<OperatorNumber> => {
    const { session } = visitorOf(request);
    const before = await readNumber(db, session, request.params.number);
    const change = await readJson(request, checkUpdate);
    requireAssigner(session, before);
    if (change.account !== undefined) requireOperator(session);
    const number = await db.transaction((tx) => changeNumber(tx, ids, before.id, change, session.person_id));
    return numberView(number);
  });

  app.post<OneNumber>('/numbers/:number/remove', async (request): Promise<OperatorNumber> => {
    const { session } = visitorOf(request);
    requireOperator(session);
    const number = await db.transaction((tx) =>
      removeNumber(tx, ids, request.params.number, session.person_id),
    );
    return numberView(number);
  });

  app.post<OneNumber>('/numbers/:number/ring', async (request) => {
    const { session } = visitorOf(request);
    const number = await readNumber(db, session, request.params.number);
    requireAssigner(session, number);
    return ringNumber(number, await readJson(request, checkRing));
  });
}

/** A number that the person may see: a shared one, or one of their accounts. Throws: Refusal `not_found`. */
async function readNumber(db: Queryable, session: Session, id: string): Promise<NumberRow> {
  const number = await getNumber(db, id);
  if (number.account_id !== null && roleIn(session, number.account_id) === null) {
    throw new Refusal('not_found', 'there is no number with this id');
  }
  return number;
}

/** Throws: Refusal `forbidden`. */
function requireAssigner(session: Session, { account_id: accountId }: NumberRow): void {
  if (accountId === null) requireOperator(session);
  else requireRight(session, accountId, 'number.assign', 'number');
}
