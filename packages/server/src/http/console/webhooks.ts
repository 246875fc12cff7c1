/** Webhooks in the console: endpoints of an account, and what was delivered for it. */
import {
  ConsoleWebhookRequest,
  isId,
  type ConsoleDeliveryDetail,
  type OperatorDelivery,
  type OperatorWebhook,
} from '@trunkcall/contract';
import type { FastifyInstance } from 'fastify';
import { recordChange, type Change } from '../../authoring/audit.ts';
import type { Session } from '../../authoring/sessions.ts';
import { Refusal } from '../../platform/refusal.ts';
import type { Note } from '../../publication/endpoints.ts';
import { findCall } from '../../storage/call-views.ts';
import { findRunContent } from '../../storage/console-views.ts';
import {
  listDeliveriesOfAccount,
  listDeliveriesOfCall,
  listDeliveriesOfEndpoint,
  type DeliveryRow,
} from '../../storage/delivery-views.ts';
import type { Queryable } from '../../storage/database.ts';
import { listEndpointsOfAccount, type EndpointRow } from '../../storage/webhooks.ts';
import { pageOf, readPage, type Page } from '../operator/page.ts';
import { checker, readJson } from '../operator/sent.ts';
import {
  deliveryDetail,
  deliveryView,
  endpointView,
  getDelivery,
  refuseUnknownState,
  secretView,
} from '../operator/webhooks.ts';
import { queryParameters } from '../query.ts';
import { maskPhone } from '../operator/views.ts';
import { hasRight, requireRight } from './access.ts';
import type { ConsoleDeps } from './routes.ts';
import { visitorOf } from './visitor.ts';

/** Canonical E.164. */
const wholeNumber = /\+[1-9]\d{6,14}/g;

const checkCreate = checker(ConsoleWebhookRequest);

/** Shows a receiver's URL as the person may see it: its path can be a secret, which is for those who manage it. */
const urlFor =
  (session: Session) =>
  <Shown extends { readonly account_id: string; readonly url: string }>(shown: Shown): Shown => ({
    ...shown,
    url: urlShown(session, shown.account_id, shown.url),
  });

/** What was told of a call, or of a Run by its public id, newest first; the newest hundred. */
export async function deliveriesOf(db: Queryable, session: Session, id: string): Promise<OperatorDelivery[]> {
  const rows = await db.query(listDeliveriesOfCall, [null, null, 100, id]);
  return rows.map(deliveryView).map(urlFor(session));
}

export function urlShown(session: Session, accountId: string, url: string): string {
  if (hasRight(session, accountId, 'webhook.manage')) return url;
  const { origin, pathname, search } = new URL(url);
  return pathname === '/' && search === '' ? url : `${origin}/…`;
}

interface OfAccount {
  Params: { account: string };
}
interface OneWebhook {
  Params: { webhook: string };
}
interface OneDelivery {
  Params: { delivery: string };
}

export function webhookRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const { db, ids, endpoints } = deps;

  const noteOf =
    (session: Session, accountId: string, action: string, details: Change['details'] = {}): Note =>
    async (tx, objectId) => {
      await recordChange(tx, ids, { by: session.person_id, accountId, action, objectId, details });
    };

  /** An endpoint of an account where the person may manage webhooks. Throws: Refusal `not_found`, `forbidden`. */
  async function managed(session: Session, id: string): Promise<EndpointRow> {
    const endpoint = await endpoints.get(id);
    requireRight(session, endpoint.account_id, 'webhook.manage', 'webhook endpoint with this id');
    return endpoint;
  }

  app.get<OfAccount>('/accounts/:account/webhooks', async (request) => {
    const { account } = request.params;
    const { session } = visitorOf(request);
    requireRight(session, account, 'account.read');
    const page = readPage(queryParameters(request, ['after', 'limit']), 'whe');
    const rows = await db.query(listEndpointsOfAccount, [page.after, page.rows, account]);
    return pageOf(page, rows.map(endpointView).map(urlFor(session)));
  });

  app.post<OfAccount>('/accounts/:account/webhooks', async (request, reply) => {
    const { session } = visitorOf(request);
    const { account: accountId } = request.params;
    requireRight(session, accountId, 'webhook.manage');
    const sent = await readJson(request, checkCreate);
    const { url, types = null, description = '', signed = false } = sent;
    const note = noteOf(session, accountId, 'webhook.created', { signed, ...(types !== null && { types }) });
    const created = await endpoints.create({ accountId, url, types, description, signed }, note);
    reply.code(201);
    return secretView(created);
  });

  const command = (
    name: string,
    action: string,
    work: (id: string, note: Note) => Promise<EndpointRow>,
  ): void => {
    app.post<OneWebhook>(`/webhooks/:webhook/${name}`, async (request): Promise<OperatorWebhook> => {
      const { session } = visitorOf(request);
      const { id, account_id: accountId } = await managed(session, request.params.webhook);
      return endpointView(await work(id, noteOf(session, accountId, action)));
    });
  };
  command('disable', 'webhook.disabled', (id, note) => endpoints.disable(id, note));
  command('enable', 'webhook.enabled', (id, note) => endpoints.enable(id, note));
  command('remove', 'webhook.removed', (id, note) => endpoints.remove(id, note));

  app.post<OneWebhook>('/webhooks/:webhook/rotate_secret', async (request) => {
    const { session } = visitorOf(request);
    const { id, account_id: accountId } = await managed(session, request.params.webhook);
    return secretView(await endpoints.rotateSecret(id, noteOf(session, accountId, 'webhook.secret_rotated')));
  });

  app.post<OneWebhook>('/webhooks/:webhook/test', async (request, reply) => {
    const { session } = visitorOf(request);
    const { id, account_id: accountId } = await managed(session, request.params.webhook);
    const delivery = await endpoints.test(id, noteOf(session, accountId, 'webhook.tested'));
    reply.code(202);
    return deliveryView(await getDelivery(db, delivery));
  });

  /** Each filter by an id has a statement of its own; what belongs to another account is not there. */
  async function readDeliveries(
    accountId: string,
    page: Page,
    { webhook, call, state }: { webhook?: string; call?: string; state?: string },
  ): Promise<DeliveryRow[]> {
    const values = [page.after, state ?? null, page.rows];
    if (webhook !== undefined && call !== undefined)
      throw new Refusal('invalid_request', 'webhook and call can not be combined');
    if (webhook !== undefined) {
      const { account_id: owner } = await endpoints.get(webhook);
      if (owner !== accountId) throw new Refusal('not_found', 'there is no webhook endpoint with this id');
      return db.query(listDeliveriesOfEndpoint, [...values, webhook]);
    }
    if (call === undefined) return db.query(listDeliveriesOfAccount, [...values, accountId]);
    const [found] = isId('grun', call)
      ? await db.query(findRunContent, [call])
      : await db.query(findCall, [call]);
    if (found?.account_id !== accountId)
      throw new Refusal('not_found', 'there is no call or Run with this id');
    return db.query(listDeliveriesOfCall, [...values, call]);
  }

  app.get<OfAccount>('/accounts/:account/webhook_deliveries', async (request) => {
    const { account } = request.params;
    const { session } = visitorOf(request);
    requireRight(session, account, 'account.read');
    const sent = queryParameters(request, ['webhook', 'call', 'state', 'after', 'limit']);
    const page = readPage(sent, 'dlv');
    refuseUnknownState(sent.state ?? null);
    return pageOf(page, (await readDeliveries(account, page, sent)).map(deliveryView).map(urlFor(session)));
  });

  // A body has whole phone numbers, which the console shows nowhere else.
  app.get<OneDelivery>('/webhook_deliveries/:delivery', async (request): Promise<ConsoleDeliveryDetail> => {
    const { session } = visitorOf(request);
    const delivery = await getDelivery(db, request.params.delivery);
    requireRight(session, delivery.account_id, 'account.read', 'delivery with this id');
    const masked = !hasRight(session, delivery.account_id, 'webhook.manage');
    const detail = urlFor(session)(await deliveryDetail(db, delivery));
    return { ...detail, body: masked ? detail.body.replaceAll(wholeNumber, maskPhone) : detail.body, masked };
  });

  app.post<OneDelivery>('/webhook_deliveries/:delivery/replay', async (request, reply) => {
    const { session } = visitorOf(request);
    const { id, account_id: accountId } = await getDelivery(db, request.params.delivery);
    requireRight(session, accountId, 'webhook.manage', 'delivery with this id');
    await endpoints.replay(id, noteOf(session, accountId, 'delivery.replayed'));
    reply.code(202);
    return deliveryView(await getDelivery(db, id));
  });
}
