import { randomBytes } from 'node:crypto';
import { isId, webhookTypes, type WebhookType } from '@trunkcall/contract';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Database, SqlValue, Statement } from '../storage/database.ts';
import { findDelivery, replayDelivery } from '../storage/delivery-views.ts';
import {
  countEndpoints,
  disableEndpoint,
  enableEndpoint,
  enqueueTestEvent,
  findEndpoint,
  insertEndpoint,
  rotateSecret,
  type EndpointRow,
} from '../storage/webhooks.ts';
import type { Destinations } from './destination.ts';

export interface NewEndpoint {
  readonly accountId: string;
  readonly url: string;
  /** Null: all. */
  readonly types: readonly WebhookType[] | null;
  readonly description: string;
  readonly signed: boolean;
}

/** An endpoint with the secret that was made for it just now; it is shown this once. */
export interface WithSecret {
  readonly endpoint: EndpointRow;
  readonly secret: string | null;
}

/** The endpoints of accounts: what the operator does with them. Unknown ids: Refusal `not_found`. */
export interface Endpoints {
  /** Throws: Refusal `invalid_webhook_url`; `invalid_request` when the account has as many as it may. */
  create(endpoint: NewEndpoint): Promise<WithSecret>;
  get(id: string): Promise<EndpointRow>;
  /** Nothing is sent to it any more; what comes due meanwhile is abandoned. */
  disable(id: string): Promise<EndpointRow>;
  enable(id: string): Promise<EndpointRow>;
  /** Signs with a new secret from now on, for a day beside the one before. An unsigned endpoint becomes signed. */
  rotateSecret(id: string): Promise<WithSecret>;
  /** Sends an event of the type `webhook.test`. Ends with the delivery's id. Throws: Refusal `webhook_conflict`. */
  test(id: string): Promise<string>;
  /** Sends a delivery again, with the same bytes and event id. Throws: Refusal `webhook_conflict`. */
  replay(deliveryId: string): Promise<void>;
}

export interface EndpointsDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly destinations: Destinations;
  /** Told when there is something to deliver. */
  readonly onDue: () => void;
}

const maxEndpoints = 100;
const secretBytes = 32;
const previousSecretMs = 24 * 60 * 60_000;
const testType = 'webhook.test';

export function createEndpoints({ db, clock, ids, destinations, onDue }: EndpointsDependencies): Endpoints {
  async function create({ accountId, url, types, description, signed }: NewEndpoint): Promise<WithSecret> {
    const problem = await destinations.checkDestination(url);
    if (problem !== null) throw new Refusal('invalid_webhook_url', `url ${problem}`);
    const [count] = await db.query(countEndpoints, [accountId]);
    if ((count?.endpoints ?? 0) >= maxEndpoints)
      throw new Refusal('invalid_request', `an account has at most ${maxEndpoints} webhook endpoints`);
    const secret = signed ? newSecret() : null;
    const values = [ids.next('whe'), accountId, url, description, types ?? webhookTypes, secret];
    const [endpoint] = await db.query(insertEndpoint, values);
    return { endpoint: known(endpoint), secret };
  }

  /** Runs a statement about one endpoint, whose id is its first value. */
  async function one<Row>(about: Statement<Row>, id: string, values: readonly SqlValue[] = []): Promise<Row> {
    const [row] = isId('whe', id) ? await db.query(about, [id, ...values]) : [];
    return known(row);
  }

  async function renewSecret(id: string): Promise<WithSecret> {
    const secret = newSecret();
    return { endpoint: await one(rotateSecret, id, [secret, previousSecretMs]), secret };
  }

  async function test(id: string): Promise<string> {
    const endpoint = await one(findEndpoint, id);
    if (endpoint.disabled_at !== null) throw isDisabled();
    const eventId = ids.next('evt');
    const created_at = new Date(clock.now()).toISOString();
    const body = JSON.stringify({ id: eventId, type: testType, created_at, data: {} });
    const [delivery] = await db.query(enqueueTestEvent, [eventId, id, testType, body]);
    onDue();
    return known(delivery).id;
  }

  async function replay(id: string): Promise<void> {
    const [delivery] = isId('dlv', id) ? await db.query(findDelivery, [id]) : [];
    if (delivery === undefined) throw new Refusal('not_found', 'there is no delivery with this id');
    const [replayed] = await db.query(replayDelivery, [id]);
    if (replayed === undefined) throw isDisabled();
    onDue();
  }

  return {
    create,
    get: (id) => one(findEndpoint, id),
    disable: (id) => one(disableEndpoint, id),
    enable: (id) => one(enableEndpoint, id),
    rotateSecret: renewSecret,
    test,
    replay,
  };
}

function known<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Refusal('not_found', 'there is no webhook endpoint with this id');
  return row;
}

const isDisabled = (): Refusal =>
  new Refusal('webhook_conflict', 'the endpoint is disabled, or the delivery is being sent at this moment');

const newSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`;
