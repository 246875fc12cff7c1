import { ConsoleKeyRequest, isId, type CreatedKey } from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { recordChange } from '../../authoring/audit.ts';
import { createKeyring } from '../../authoring/keys.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { Queryable } from '../../storage/database.ts';
import { findKey } from '../../storage/keys.ts';
import { keyView, readTime } from '../operator/keys.ts';
import { checker, readJson } from '../operator/sent.ts';
import { listOf } from '../operator/views.ts';
import { requireRight } from './access.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';

const checkCreate = checker(ConsoleKeyRequest);

interface OfAccount {
  Params: { account: string };
}

export function keyRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const { db, ids } = deps;
  const keyring = (tx: Queryable) => createKeyring({ ...deps, db: tx });

  app.get<OfAccount>('/accounts/:account/keys', async (request) => {
    const { account } = request.params;
    requireRight(visitorOf(request).session, account, 'account.read');
    return listOf((await keyring(db).list(account)).map(keyView));
  });

  app.post<OfAccount>('/accounts/:account/keys', async (request, reply): Promise<CreatedKey> => {
    const { session } = visitorOf(request);
    const { account: accountId } = request.params;
    requireRight(session, accountId, 'key.manage');
    const { scopes, expires_at } = await readJson(request, checkCreate);
    const expiresAt = expires_at === null ? null : readTime(expires_at);
    const created = await db.transaction(async (tx) => {
      const key = await keyring(tx).create({ accountId, scopes, regions: null, expiresAt });
      const change = { by: session.person_id, accountId, objectId: key.id };
      await recordChange(tx, ids, { ...change, action: 'key.created', details: { scopes, expires_at } });
      return key;
    });
    reply.code(201);
    return { ...keyView(created), key: created.key };
  });

  // What other processes remember of a key is forgotten within seconds, as always.
  app.post<{ Params: { key: string } }>('/keys/:key/revoke', async (request) => {
    const { session } = visitorOf(request);
    const { key: keyId } = request.params;
    const [key] = isId('key', keyId) ? await db.query(findKey, [keyId]) : [];
    if (key === undefined) throw new Refusal('not_found', 'there is no such key');
    const { account_id: accountId } = key;
    requireRight(session, accountId, 'key.manage', 'key');
    const revoked = await db.transaction(async (tx) => {
      const gone = await keyring(tx).revoke(keyId);
      const change = { by: session.person_id, accountId, objectId: keyId };
      await recordChange(tx, ids, { ...change, action: 'key.revoked' });
      return gone;
    });
    return keyView(revoked);
  });
}
