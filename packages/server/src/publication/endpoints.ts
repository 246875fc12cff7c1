import { randomBytes } from 'node:crypto';
import { isId, webhookTypes, type WebhookType } from '@trunkcall/contract';
import type { Clock } from '../platform/clock.ts';
import type { Ids } from '../platform/ids.ts';
import { Refusal } from '../platform/refusal.ts';
import type { Database, Queryable, SqlValue, Statement } from '../storage/database.ts';
import { findDelivery, replayDelivery } from '../storage/delivery-views.ts';
import {
  countEndpoints,
  deleteEndpoint,
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

/** Called in the transaction of a change, to say who made it; gets the id of what is changed. */
export type Note = (tx: Queryable, objectId: string) => Promise<void>;

/** The endpoints of accounts, and what people do with them. Unknown ids: Refusal `not_found`. */
export interface Endpoints {
  /** Throws: Refusal `invalid_webhook_url`; `invalid_request` when the account has as many as it may. */
  create(endpoint: NewEndpoint, note?: Note): Promise<WithSecret>;
  get(id: string): Promise<EndpointRow>;
  /** Nothing is sent to it any more; what comes due meanwhile is abandoned. */
  disable(id: string, note?: Note): Promise<EndpointRow>;
  enable(id: string, note?: Note): Promise<EndpointRow>;
  /** Forgets it with its secrets; what was to be sent to it is abandoned. Ends with what it was. */
  remove(id: string, note?: Note): Promise<EndpointRow>;
  /** Signs with a new secret from now on, for a day beside the one before. An unsigned endpoint becomes signed. */
  rotateSecret(id: string, note?: Note): Promise<WithSecret>;
  /** Sends an event of the type `webhook.test`. Ends with the delivery's id. Throws: Refusal `webhook_conflict`. */
  test(id: string, note?: Note): Promise<string>;
  /** Sends a delivery again, with the same bytes and event id. Throws: Refusal `webhook_conflict`. */
  replay(deliveryId: string, note?: Note): Promise<void>;
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
const unnoted: Note = async () => undefined;

export function createEndpoints({ db, clock, ids, destinations, onDue }: EndpointsDependencies): Endpoints {
  async function create(
    { accountId, url, types, description, signed }: NewEndpoint,
    note = unnoted,
  ): Promise<WithSecret> {
    const problem = await destinations.checkDestination(url);
    if (problem !== null) throw new Refusal('invalid_webhook_url', `url ${problem}`);
    const secret = signed ? newSecret() : null;
    const id = ids.next('whe');
    return db.transaction(async (tx) => {
      const [count] = await tx.query(countEndpoints, [accountId]);
      if ((count?.endpoints ?? 0) >= maxEndpoints)
        throw new Refusal('invalid_request', `an account has at most ${maxEndpoints} webhook endpoints`);
      const values = [id, accountId, url, description, types ?? webhookTypes, secret];
      const [endpoint] = await tx.query(insertEndpoint, values);
      await note(tx, id);
      return { endpoint: known(endpoint), secret };
    });
  }

  /** Runs a statement about one endpoint, whose id is its first value. */
  async function one<Row>(
    tx: Queryable,
    about: Statement<Row>,
    id: string,
    values: readonly SqlValue[] = [],
  ): Promise<Row> {
    const [row] = isId('whe', id) ? await tx.query(about, [id, ...values]) : [];
    return known(row);
  }

  const change = <Row>(about: Statement<Row>, id: string, note: Note, values?: readonly SqlValue[]) =>
    db.transaction(async (tx) => {
      const row = await one(tx, about, id, values);
      await note(tx, id);
      return row;
    });

  async function renewSecret(id: string, note = unnoted): Promise<WithSecret> {
    const secret = newSecret();
    return { endpoint: await change(rotateSecret, id, note, [secret, previousSecretMs]), secret };
  }

  async function test(id: string, note = unnoted): Promise<string> {
    const eventId = ids.next('evt');
    const created_at = new Date(clock.now()).toISOString();
    const body = JSON.stringify({ id: eventId, type: testType, created_at, data: {} });
    const delivery = await db.transaction(async (tx) => {
      if ((await one(tx, findEndpoint, id)).disabled_at !== null) throw canNotSend();
      const [made] = await tx.query(enqueueTestEvent, [eventId, id, testType, body]);
      await note(tx, id);
      return known(made);
    });
    onDue();
    return delivery.id;
  }

  async function replay(id: string, note = unnoted): Promise<void> {
    await db.transaction(async (tx) => {
      const [delivery] = isId('dlv', id) ? await tx.query(findDelivery, [id]) : [];
      if (delivery === undefined) throw new Refusal('not_found', 'there is no delivery with this id');
      const [replayed] = await tx.query(replayDelivery, [id]);
      if (replayed === undefined) throw canNotSend();
      await note(tx, id);
    });
    onDue();
  }

  return {
    create,
    get: (id) => one(db, findEndpoint, id),
    disable: (id, note = unnoted) => change(disableEndpoint, id, note),
    enable: (id, note = unnoted) => change(enableEndpoint, id, note),
    remove: (id, note = unnoted) => change(deleteEndpoint, id, note),
    rotateSecret: renewSecret,
    test,
    replay,
  };
}

function known<Row>(row: Row | undefined): Row {
  if (row === undefined) throw new Refusal('not_found', 'there is no webhook endpoint with this id');
  return row;
}

const canNotSend = (): Refusal =>
  new Refusal(
    'webhook_conflict',
    'the endpoint is disabled or removed, or the delivery is being sent at this moment',
  );

const newSecret = (): string => `whsec_${randomBytes(secretBytes).toString('base64')}`;
