import { AddNumberRequest, RingRequest, UpdateNumberRequest, type OperatorNumber } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { getAccount } from '../../authoring/accounts.ts';
import { addNumber, changeNumber, getNumber, removeNumber } from '../../authoring/numbers.ts';
import type { RingNumber } from '../../inbound/ring.ts';
import type { Ids } from '../../platform/ids.ts';
import type { Database } from '../../storage/database.ts';
import { listNumbers, type NumberRow } from '../../storage/numbers.ts';
import { checker, readJson } from './sent.ts';
import { listOf } from './views.ts';

/** Numbers go by their ids: they themselves have no place in a URL (I10). */
interface OneNumber {
  Params: { number: string };
}

export interface NumberRoutesDeps {
  readonly db: Database;
  readonly ids: Ids;
  readonly ringNumber: RingNumber;
}

/** No person does what is done with an operator token. */
const by = null;

const checkAdd = checker(AddNumberRequest);
const checkUpdate = checker(UpdateNumberRequest);
const checkRing = checker(RingRequest);

export function numberRoutes(app: FastifyInstance, { db, ids, ringNumber }: NumberRoutesDeps): void {
  app.post('/numbers', async (request, reply) => {
    const { phone, account, label = '' } = await readJson(request, checkAdd);
    const accountId = account === undefined ? null : (await getAccount(db, account)).id;
    const added = await db.transaction((tx) => addNumber(tx, ids, { phone, accountId, label }, by));
    reply.code(201);
    return numberView(added);
  });

  app.get('/numbers', async () => listOf((await db.query(listNumbers)).map(numberView)));

  app.patch<OneNumber>('/numbers/:number', async (request) => {
    const change = await readJson(request, checkUpdate);
    const { number } = request.params;
    return numberView(await db.transaction((tx) => changeNumber(tx, ids, number, change, by)));
  });

  app.post<OneNumber>('/numbers/:number/remove', async (request) =>
    numberView(await db.transaction((tx) => removeNumber(tx, ids, request.params.number, by))),
  );

  app.post<OneNumber>('/numbers/:number/ring', async (request) => {
    const ring = await readJson(request, checkRing);
    return ringNumber(await getNumber(db, request.params.number), ring);
  });
}

export const numberView = (row: NumberRow): OperatorNumber => ({
  ...row,
  created_at: row.created_at.toISOString(),
});
