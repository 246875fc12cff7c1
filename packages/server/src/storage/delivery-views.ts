/** Deliveries as the operator sees them. Reads (I7), and the command to send one again. */
import { statement } from './database.ts';

export interface DeliveryRow {
  readonly id: string;
  readonly account_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly call_id: string | null;
  readonly endpoint_id: string | null;
  readonly url: string;
  readonly state: 'pending' | 'delivered' | 'failed' | 'abandoned';
  readonly tries: number;
  /** Null once it has ended. */
  readonly next_try_at: Date | null;
  readonly last_status: number | null;
  readonly last_error: string | null;
  readonly created_at: Date;
  readonly ended_at: Date | null;
}

const columns = `d.id, e.account_id, d.event_id, e.type, d.call_id, d.endpoint_id, d.url,
  case when d.ended_at is null then 'pending' else d.state end as state, d.tries,
  case when d.ended_at is null then d.due_at end as next_try_at, d.last_status, d.last_error, d.created_at, d.ended_at`;
const eventOfDelivery =
  'cross join lateral (select account_id, type, body from webhook_events where id = d.event_id limit 1) e';

const inState = `($2::text is null or case when d.ended_at is null then 'pending' else d.state end = $2)`;

/** `~` stands behind every digit of an id: without a cursor the page begins with the newest. */
const newestFirst = `d.id < coalesce($1, 'dlv_~')
     and ${inState}
   order by d.id desc limit $3`;

/** Newest first. Values: id to continue behind (null: none), state (null: any), most rows. */
export const listDeliveries = statement<DeliveryRow>(
  'list_webhook_deliveries',
  `select ${columns} from webhook_deliveries d ${eventOfDelivery} where ${newestFirst}`,
);

/** The same of one endpoint; a statement of its own, so that no plan can miss its index. Values: as above, endpoint id. */
export const listDeliveriesOfEndpoint = statement<DeliveryRow>(
  'list_webhook_deliveries_of_endpoint',
  `select ${columns} from webhook_deliveries d ${eventOfDelivery} where d.endpoint_id = $4 and ${newestFirst}`,
);

/**
 * The same of one account, along its events: one event has its deliveries together. A state that is rare among the
 * newest costs a walk back to its deliveries. Values: as above, account id.
 */
export const listDeliveriesOfAccount = statement<DeliveryRow>(
  'list_webhook_deliveries_of_account',
  `select ${columns}
   from webhook_events e cross join lateral (select * from webhook_deliveries where event_id = e.id) d
   where e.account_id = $4
     and e.id <= coalesce((select event_id from webhook_deliveries where id = $1), 'evt_~')
     and (e.id, d.id) < (coalesce((select event_id from webhook_deliveries where id = $1), 'evt_~'), coalesce($1, 'dlv_~'))
     and ${inState}
   order by e.id desc, d.id desc limit $3`,
);

/** The same of one call, or Run. Values: as above, call id or public id of the Run. */
export const listDeliveriesOfCall = statement<DeliveryRow>(
  'list_webhook_deliveries_of_call',
  `select ${columns} from webhook_deliveries d ${eventOfDelivery} where d.call_id = $4 and ${newestFirst}`,
);

/** Values: id. */
export const findDelivery = statement<DeliveryRow & { readonly body: string }>(
  'find_webhook_delivery',
  `select ${columns}, e.body from webhook_deliveries d ${eventOfDelivery} where d.id = $1`,
);

export interface TryRow {
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly response: string | null;
}

/** The newest tries of a delivery, newest first. Values: delivery id, most. */
export const listTries = statement<TryRow>(
  'list_webhook_tries',
  `select started_at, duration_ms, status, error, response from webhook_tries
   where delivery_id = $1 order by fence desc limit $2`,
);

/**
 * Sends a delivery again, from the beginning of its schedule; one that waits goes now. No row: it is being sent at this
 * moment, or its endpoint is disabled or removed. Values: id.
 */
export const replayDelivery = statement<{ readonly id: string }>(
  'replay_webhook_delivery',
  `update webhook_deliveries d set state = 'ready', tries = 0, due_at = now(), ended_at = null
   where d.id = $1 and d.state <> 'sending'
     and coalesce((select disabled_at is null from webhook_endpoints where id = d.endpoint_id limit 1),
                  d.endpoint_id is null)
   returning d.id`,
);
