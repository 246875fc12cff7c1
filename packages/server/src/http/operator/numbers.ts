import { AddNumberRequest, type OperatorNumber } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { getAccount } from '../../authoring/accounts.ts';
import { addNumber, removeNumber } from '../../authoring/numbers.ts';
import type { Ids } from '../../platform/ids.ts';
import type { Queryable } from '../../storage/database.ts';
import { listNumbers, type NumberRow } from '../../storage/numbers.ts';
import { checker, readJson } from './sent.ts';
import { listOf } from './views.ts';

/** Numbers go by their ids: they themselves have no place in a URL (I10). */
interface OneNumber {
  Params: { number: string };
}

const checkAdd = checker(AddNumberRequest);

export function numberRoutes(app: FastifyInstance, { db, ids }: { db: Queryable; ids: Ids }): void {
  app.post('/numbers', async (request, reply) => {
    const { phone, account } = await readJson(request, checkAdd);
    const accountId = account === undefined ? null : (await getAccount(db, account)).id;
    reply.code(201);
    return numberView(await addNumber(db, ids, phone, accountId));
  });

  app.get('/numbers', async () => listOf((await db.query(listNumbers)).map(numberView)));

  app.post<OneNumber>('/numbers/:number/remove', async (request) =>
    numberView(await removeNumber(db, request.params.number)),
  );
}

const numberView = (row: NumberRow): OperatorNumber => ({ ...row, created_at: row.created_at.toISOString() });
