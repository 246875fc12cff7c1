import {
  CreateKeyRequest,
  scopes as allScopes,
  type CreatedKey,
  type OperatorKey,
} from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { getAccount } from '../../authoring/accounts.ts';
import { recordOperatorChange } from '../../authoring/audit.ts';
import type { Keyring, KeyView } from '../../authoring/keys.ts';
import type { Ids } from '../../platform/ids.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { Database } from '../../storage/database.ts';
import { queryParameters } from '../query.ts';
import { checker, readJson } from './sent.ts';
import { listOf, timeOrNull } from './views.ts';

const checkCreate = checker(CreateKeyRequest);

export interface KeyRoutesDeps {
  readonly db: Database;
  readonly ids: Ids;
  readonly keys: Keyring;
}

export function keyRoutes(app: FastifyInstance, { db, ids, keys }: KeyRoutesDeps): void {
  app.post('/keys', async (request, reply): Promise<CreatedKey> => {
    const sent = await readJson(request, checkCreate);
    const { id: accountId } = await getAccount(db, sent.account);
    const { scopes = allScopes, regions = null, expires_at = null } = sent;
    const wanted = {
      accountId,
      scopes,
      regions,
      expiresAt: expires_at === null ? null : readTime(expires_at),
    };
    const created = await db.transaction(async (tx) => {
      const key = await keys.create(wanted, tx);
      const change = { accountId, objectId: key.id, action: 'key.created' };
      await recordOperatorChange(tx, ids, { ...change, details: { scopes, regions, expires_at } });
      return key;
    });
    reply.code(201);
    return { ...keyView(created), key: created.key };
  });

  app.get('/keys', async (request) => {
    const { account } = queryParameters(request, ['account']);
    if (account === undefined) throw new Refusal('invalid_request', 'the query parameter account is missing');
    const { id } = await getAccount(db, account);
    return listOf((await keys.list(id)).map(keyView));
  });

  app.post<{ Params: { key: string } }>('/keys/:key/revoke', async (request) =>
    keyView(
      await db.transaction(async (tx) => {
        const gone = await keys.revoke(request.params.key, tx);
        const change = { accountId: gone.accountId, objectId: gone.id, action: 'key.revoked' };
        await recordOperatorChange(tx, ids, change);
        return gone;
      }),
    ),
  );
}

/** RFC 3339 with a time zone: without one a time would mean something else on every machine. */
const timeForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/i;

export function readTime(text: string): Date {
  const time = new Date(text);
  if (!timeForm.test(text) || Number.isNaN(time.getTime())) {
    throw new Refusal(
      'invalid_request',
      'expires_at must be an RFC 3339 time with a zone, such as 2030-01-31T00:00:00Z',
    );
  }
  return time;
}

export function keyView(key: KeyView): OperatorKey {
  return {
    id: key.id,
    account_id: key.accountId,
    scopes: key.scopes,
    regions: key.regions,
    expires_at: timeOrNull(key.expiresAt),
    revoked_at: timeOrNull(key.revokedAt),
    last_used_at: timeOrNull(key.lastUsedAt),
    created_at: key.createdAt.toISOString(),
  };
}
