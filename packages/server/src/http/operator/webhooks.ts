import {
  CreateWebhookRequest,
  deliveryStates,
  isId,
  type OperatorDelivery,
  type OperatorDeliveryDetail,
  type OperatorWebhook,
  type WebhookType,
  type WebhookWithSecret,
} from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { getAccount } from '../../authoring/accounts.ts';
import { recordOperatorChange, type Change } from '../../authoring/audit.ts';
import type { Ids } from '../../platform/ids.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { Endpoints, Note, WithSecret } from '../../publication/endpoints.ts';
import type { Queryable } from '../../storage/database.ts';
import {
  findDelivery,
  listDeliveries,
  listDeliveriesOfCall,
  listDeliveriesOfEndpoint,
  listTries,
  type DeliveryRow,
} from '../../storage/delivery-views.ts';
import { listEndpoints, listEndpointsOfAccount, type EndpointRow } from '../../storage/webhooks.ts';
import { queryParameters } from '../query.ts';
import { pageOf, readPage } from './page.ts';
import { checker, readJson } from './sent.ts';
import { timeOrNull } from './views.ts';

export interface WebhookRoutesDeps {
  readonly db: Queryable;
  readonly ids: Ids;
  readonly endpoints: Endpoints;
}

const checkCreate = checker(CreateWebhookRequest);
const maxTriesShown = 50;

interface OneWebhook {
  Params: { webhook: string };
}
interface OneDelivery {
  Params: { delivery: string };
}

export function webhookRoutes(app: FastifyInstance, { db, ids, endpoints }: WebhookRoutesDeps): void {
  const noteOf =
    (accountId: string, action: string, details: Change['details'] = {}): Note =>
    async (tx, objectId) => {
      await recordOperatorChange(tx, ids, { accountId, action, objectId, details });
    };
  /** The note for an endpoint that there is. Throws: Refusal `not_found`. */
  const noteFor = async (id: string, action: string): Promise<Note> =>
    noteOf((await endpoints.get(id)).account_id, action);

  app.post('/webhooks', async (request, reply): Promise<WebhookWithSecret> => {
    const {
      account,
      url,
      types = null,
      description = '',
      signed = false,
    } = await readJson(request, checkCreate);
    const { id: accountId } = await getAccount(db, account);
    const note = noteOf(accountId, 'webhook.created', { signed, ...(types !== null && { types }) });
    const created = await endpoints.create({ accountId, url, types, description, signed }, note);
    reply.code(201);
    return secretView(created);
  });

  app.get('/webhooks', async (request) => {
    const { account, ...sent } = queryParameters(request, ['account', 'after', 'limit']);
    const page = readPage(sent, 'whe');
    const rows =
      account === undefined
        ? await db.query(listEndpoints, [page.after, page.rows])
        : await db.query(listEndpointsOfAccount, [page.after, page.rows, (await getAccount(db, account)).id]);
    return pageOf(page, rows.map(endpointView));
  });

  app.get<OneWebhook>('/webhooks/:webhook', async ({ params }) =>
    endpointView(await endpoints.get(params.webhook)),
  );
  app.post<OneWebhook>('/webhooks/:webhook/disable', async ({ params }) =>
    endpointView(await endpoints.disable(params.webhook, await noteFor(params.webhook, 'webhook.disabled'))),
  );
  app.post<OneWebhook>('/webhooks/:webhook/enable', async ({ params }) =>
    endpointView(await endpoints.enable(params.webhook, await noteFor(params.webhook, 'webhook.enabled'))),
  );
  app.post<OneWebhook>('/webhooks/:webhook/remove', async ({ params }) =>
    endpointView(await endpoints.remove(params.webhook, await noteFor(params.webhook, 'webhook.removed'))),
  );
  app.post<OneWebhook>('/webhooks/:webhook/rotate_secret', async ({ params }) =>
    secretView(
      await endpoints.rotateSecret(params.webhook, await noteFor(params.webhook, 'webhook.secret_rotated')),
    ),
  );
  app.post<OneWebhook>('/webhooks/:webhook/test', async ({ params }, reply) => {
    const id = await endpoints.test(params.webhook, await noteFor(params.webhook, 'webhook.tested'));
    reply.code(202);
    return deliveryView(await getDelivery(db, id));
  });

  app.get('/webhook_deliveries', async (request) => {
    const {
      webhook,
      call,
      state = null,
      ...sent
    } = queryParameters(request, ['webhook', 'call', 'state', 'after', 'limit']);
    const page = readPage(sent, 'dlv');
    refuseUnknownState(state);
    const values = [page.after, state, page.rows];
    return pageOf(page, (await readDeliveries(db, values, webhook, call)).map(deliveryView));
  });

  app.get<OneDelivery>('/webhook_deliveries/:delivery', async ({ params }) =>
    deliveryDetail(db, await getDelivery(db, params.delivery)),
  );

  app.post<OneDelivery>('/webhook_deliveries/:delivery/replay', async ({ params }, reply) => {
    const { account_id: accountId } = await getDelivery(db, params.delivery);
    await endpoints.replay(params.delivery, noteOf(accountId, 'delivery.replayed'));
    reply.code(202);
    return deliveryView(await getDelivery(db, params.delivery));
  });
}

/** Each filter by an id has a statement of its own. Throws: Refusal `invalid_request`. */
function readDeliveries(
  db: Queryable,
  values: readonly (string | number | null)[],
  webhook: string | undefined,
  call: string | undefined,
): Promise<DeliveryRow[]> {
  if (webhook !== undefined && call !== undefined)
    throw new Refusal('invalid_request', 'webhook and call can not be combined');
  if (webhook !== undefined) {
    if (!isId('whe', webhook)) throw new Refusal('invalid_request', 'webhook must be an endpoint id');
    return db.query(listDeliveriesOfEndpoint, [...values, webhook]);
  }
  if (call === undefined) return db.query(listDeliveries, values);
  if (!isId('call', call) && !isId('grun', call))
    throw new Refusal('invalid_request', 'call must be the id of a call or a Run');
  return db.query(listDeliveriesOfCall, [...values, call]);
}

/** Throws: Refusal `invalid_request`. */
export function refuseUnknownState(state: string | null): void {
  if (state === null || deliveryStates.some((known) => known === state)) return;
  throw new Refusal('invalid_request', `state must be one of: ${deliveryStates.join(', ')}`);
}

type WholeDelivery = DeliveryRow & { readonly body: string };

/** Throws: Refusal `not_found`. */
export async function getDelivery(db: Queryable, id: string): Promise<WholeDelivery> {
  const [delivery] = isId('dlv', id) ? await db.query(findDelivery, [id]) : [];
  if (delivery === undefined) throw new Refusal('not_found', 'there is no delivery with this id');
  return delivery;
}

/** A delivery with the text that is sent and its newest tries. */
export async function deliveryDetail(db: Queryable, row: WholeDelivery): Promise<OperatorDeliveryDetail> {
  const tries = await db.query(listTries, [row.id, maxTriesShown]);
  return {
    ...deliveryView(row),
    body: row.body,
    try_log: tries.map(({ started_at, ...rest }) => ({ started_at: started_at.toISOString(), ...rest })),
  };
}

export function endpointView(row: EndpointRow): OperatorWebhook {
  return {
    id: row.id,
    account_id: row.account_id,
    url: row.url,
    types: row.types as WebhookType[],
    description: row.description,
    signed: row.signed,
    previous_secret_until: timeOrNull(row.previous_secret_until),
    enabled: row.disabled_at === null,
    disabled_at: timeOrNull(row.disabled_at),
    disabled_reason: row.disabled_reason,
    failing_since: timeOrNull(row.failing_since),
    created_at: row.created_at.toISOString(),
  };
}

export const secretView = ({ endpoint, secret }: WithSecret): WebhookWithSecret => ({
  ...endpointView(endpoint),
  secret,
});

export function deliveryView(row: DeliveryRow): OperatorDelivery {
  return {
    id: row.id,
    account_id: row.account_id,
    event_id: row.event_id,
    type: row.type,
    call_id: row.call_id,
    webhook_id: row.endpoint_id,
    url: row.url,
    state: row.state,
    tries: row.tries,
    next_try_at: timeOrNull(row.next_try_at),
    last_status: row.last_status,
    last_error: row.last_error,
    created_at: row.created_at.toISOString(),
    ended_at: timeOrNull(row.ended_at),
  };
}
