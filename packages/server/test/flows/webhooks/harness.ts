/** The outbox and a deliverer on a real database, with time that can be moved. */
import { Writable } from 'node:stream';
import { webhookTypes } from '@trunkcall/contract';
import { systemClock } from '../../../src/platform/clock.ts';
import { systemIds } from '../../../src/platform/ids.ts';
import { createLog } from '../../../src/platform/log.ts';
import {
  startDeliverer,
  type Deliverer,
  type DelivererSettings,
} from '../../../src/publication/deliverer.ts';
import { createDestinations, type Resolve } from '../../../src/publication/destination.ts';
import { createEndpoints, type Endpoints } from '../../../src/publication/endpoints.ts';
import { statement, type Database } from '../../../src/storage/database.ts';
import {
  listDeliveries,
  listTries,
  type DeliveryRow,
  type TryRow,
} from '../../../src/storage/delivery-views.ts';
import { enqueueWebhooks } from '../../../src/storage/webhooks.ts';
import { createAccount } from '../../kit/fixtures.ts';
import { authorities, type Receiver } from '../../kit/receiver.ts';

export const ids = systemIds(systemClock);

export interface Publication {
  readonly eventId: string;
  readonly callId: string;
  readonly body: string;
}

export interface WebhookHarness {
  readonly accountId: string;
  readonly endpoints: Endpoints;
  /** The log so far. */
  readonly logged: () => string;
  /** Starts a deliverer; all are stopped at the end. */
  start(settings?: Partial<DelivererSettings>, deliveringDb?: Database): Promise<Deliverer>;
  /** Makes an endpoint for a receiver of the tests. */
  endpoint(receiver: Receiver, over?: { signed?: boolean; path?: string }): Promise<string>;
  publish(over?: { url?: string; type?: string; accountId?: string }): Promise<Publication>;
  /** All deliveries, oldest first. */
  deliveries(): Promise<DeliveryRow[]>;
  tries(deliveryId: string): Promise<TryRow[]>;
  stop(): Promise<void>;
}

export interface HarnessOptions {
  readonly db: Database;
  /** Receivers on loopback that may be sent to. */
  readonly receivers?: readonly Receiver[];
  readonly allow?: readonly string[];
  readonly resolve?: Resolve;
  /** `debug` by default. */
  readonly logLevel?: string;
}

export async function createWebhookHarness(options: HarnessOptions): Promise<WebhookHarness> {
  const { db, receivers = [], allow = [], resolve = async () => [], logLevel = 'debug' } = options;
  const accountId = await createAccount(db, ids);
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(chunk.toString());
      done();
    },
  });
  const log = createLog(logLevel, destination);
  const destinations = createDestinations({
    allow: new Set([...allow, ...receivers.map(({ port }) => `127.0.0.1:${port}`)]),
    clock: systemClock,
    resolve,
  });
  const deliverers: Deliverer[] = [];
  const wakeAll = (): void => deliverers.forEach((deliverer) => deliverer.wake());
  const endpoints = createEndpoints({ db, clock: systemClock, ids, destinations, onDue: wakeAll });

  return {
    accountId,
    endpoints,
    logged: () => lines.join(''),
    async start(settings = {}, deliveringDb = db) {
      const deliverer = await startDeliverer({
        db: deliveringDb,
        clock: systemClock,
        ids,
        log,
        destinations,
        random: () => 0.5,
        settings: {
          headerPrefix: 'Trunkcall',
          authorities,
          perReceiver: 16,
          retentionDays: 30,
          pollMs: 20,
          ...settings,
        },
      });
      deliverers.push(deliverer);
      return deliverer;
    },
    async endpoint({ origin }, { signed = false, path = '/hook' } = {}) {
      const made = { accountId, url: `${origin}${path}`, types: null, description: '', signed };
      return (await endpoints.create(made)).endpoint.id;
    },
    async publish({ url, type = webhookTypes[0], accountId: owner = accountId } = {}) {
      const eventId = ids.next('evt');
      const callId = ids.next('call');
      const body = JSON.stringify({ id: eventId, type, data: { id: callId, text: 'Grüße' } });
      await db.query(enqueueWebhooks, [eventId, owner, callId, type, body, url ?? null]);
      wakeAll();
      return { eventId, callId, body };
    },
    deliveries: async () => (await db.query(listDeliveries, [null, null, 1_000])).reverse(),
    tries: (deliveryId) => db.query(listTries, [deliveryId, 100]),
    async stop() {
      await Promise.all(deliverers.map((deliverer) => deliverer.stop()));
    },
  };
}

const shift = statement<never>(
  'test_shift',
  `with deliveries as (
     update webhook_deliveries set due_at = due_at - $1 * interval '1 ms', leased_until = leased_until - $1 * interval '1 ms'
   ), endpoints as (
     update webhook_endpoints set failing_since = failing_since - $1 * interval '1 ms',
                                  previous_secret_until = previous_secret_until - $1 * interval '1 ms'
   )
   update webhook_events set created_at = created_at - $1 * interval '1 ms'`,
);

/** Lets time pass, for everything that the database judges by its clock. */
export const advance = (db: Database, ms: number): Promise<unknown> => db.query(shift, [ms]);

/** Waits until `look` gives something, at most 20 s. */
export async function until<T>(
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
): Promise<T> {
  const giveUpAt = performance.now() + 20_000;
  for (;;) {
    const found = await look();
    if (found !== null && found !== undefined && found !== false) return found;
    if (performance.now() > giveUpAt) throw new Error('it does not happen');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
