/**
 * Webhook endpoints, and the outbox that is filled in the transaction of the change that an event reports (I8).
 */
import { statement } from './database.ts';

export type DisabledReason = 'operator' | 'gone' | 'failing';

export interface EndpointRow {
  readonly id: string;
  readonly account_id: string;
  readonly url: string;
  readonly description: string;
  readonly types: readonly string[];
  readonly signed: boolean;
  readonly previous_secret_until: Date | null;
  readonly disabled_at: Date | null;
  readonly disabled_reason: DisabledReason | null;
  readonly failing_since: Date | null;
  readonly created_at: Date;
}

const columns = `w.id, w.account_id, w.url, w.description, w.types, w.secret is not null as signed,
  case when w.previous_secret_until > now() then w.previous_secret_until end as previous_secret_until,
  w.disabled_at, w.disabled_reason, w.failing_since, w.created_at`;

/**
 * The end of an event's id, made into the id of a delivery: the same time, and 80 bits of a hash of both. So the same
 * event never makes a second delivery to one receiver, and ids need not be sent along.
 */
const deliveryId = (eventId: string, receiver: string): string =>
  `'dlv_' || substr(${eventId}, 5, 10) || (
     select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', 1 + (get_byte(h.bytes, i) & 31), 1), '' order by i)
     from (select sha256(convert_to(${eventId} || ' ' || ${receiver}, 'UTF8')) as bytes) h
     cross join generate_series(0, 15) i)`;

/**
 * Publishes an event: once, whatever is repeated, to every enabled endpoint of the account that wants its type and to
 * the URL that came with the call. Deliveries to URLs share a lane by account and origin.
 *
 * Values: event id, account id, id of the call (of a Run its public one), type, body, URL or null.
 */
export const enqueueWebhooks = statement<never>(
  'enqueue_webhooks',
  `with event as (
     insert into webhook_events (id, account_id, call_id, type, body) values ($1, $2, $3, $4, $5)
     on conflict (id) do nothing
     returning id, account_id, call_id, type
   ), receivers as (
     select w.id as endpoint_id, w.url, w.id as lane
     from event e cross join lateral (
       select id, url from webhook_endpoints
       where account_id = e.account_id and disabled_at is null and e.type = any (types)
     ) w
     union all
     select null, $6::text, e.account_id || ' ' || lower(substring($6::text from '^[^:]*://[^/?#]*'))
     from event e where $6::text is not null
   )
   insert into webhook_deliveries (id, event_id, call_id, endpoint_id, url, lane)
   select ${deliveryId('e.id', "coalesce(r.endpoint_id, '')")}, e.id, e.call_id, r.endpoint_id, r.url, r.lane
   from event e cross join receivers r`,
);

/** Publishes a test event to one endpoint, whatever types it wants. Values: event id, endpoint id, type, body. */
export const enqueueTestEvent = statement<{ readonly id: string }>(
  'enqueue_test_event',
  `with receiver as (
     select id, account_id, url from webhook_endpoints where id = $2
   ), event as (
     insert into webhook_events (id, account_id, type, body) select $1::text, account_id, $3, $4 from receiver
     returning id
   )
   insert into webhook_deliveries (id, event_id, endpoint_id, url, lane)
   select ${deliveryId('e.id', 'r.id')}, e.id, r.id, r.url, r.id from event e cross join receiver r
   returning id`,
);

/** Values: id, account id, URL, description, types, secret or null. */
export const insertEndpoint = statement<EndpointRow>(
  'insert_webhook_endpoint',
  `insert into webhook_endpoints as w (id, account_id, url, description, types, secret)
   values ($1, $2, $3, $4, $5::text[], $6) returning ${columns}`,
);

/** Values: id. */
export const findEndpoint = statement<EndpointRow>(
  'find_webhook_endpoint',
  `select ${columns} from webhook_endpoints w where w.id = $1`,
);

/** Oldest first. Values: id to continue behind (null: none), most rows. */
export const listEndpoints = statement<EndpointRow>(
  'list_webhook_endpoints',
  `select ${columns} from webhook_endpoints w where w.id > coalesce($1, '') order by w.id limit $2`,
);

/** The same of one account. Values: as above, and the account id. */
export const listEndpointsOfAccount = statement<EndpointRow>(
  'list_webhook_endpoints_of_account',
  `select ${columns} from webhook_endpoints w
   where w.account_id = $3 and w.id > coalesce($1, '') order by w.id limit $2`,
);

/** Values: account id. */
export const countEndpoints = statement<{ readonly endpoints: number }>(
  'count_webhook_endpoints',
  'select count(*)::int as endpoints from webhook_endpoints where account_id = $1',
);

/** One that is disabled already keeps its time and reason. Values: id. */
export const disableEndpoint = statement<EndpointRow>(
  'disable_webhook_endpoint',
  `update webhook_endpoints w set disabled_reason = coalesce(w.disabled_reason, 'operator'),
                                  disabled_at = coalesce(w.disabled_at, now())
   where w.id = $1 returning ${columns}`,
);

/** Begins anew: what failed before does not count any more. Values: id. */
export const enableEndpoint = statement<EndpointRow>(
  'enable_webhook_endpoint',
  `update webhook_endpoints w set disabled_at = null, disabled_reason = null, failing_since = null
   where w.id = $1 returning ${columns}`,
);

/** Its deliveries stay, until they are forgotten with their events. Values: id. */
export const deleteEndpoint = statement<EndpointRow>(
  'delete_webhook_endpoint',
  `delete from webhook_endpoints w where w.id = $1 returning ${columns}`,
);

/**
 * Gives an endpoint a new secret; the one before signs beside it for a while. Values: id, secret, milliseconds that
 * the previous one stays valid.
 */
export const rotateSecret = statement<EndpointRow>(
  'rotate_webhook_secret',
  `update webhook_endpoints w
   set secret = $2, previous_secret = w.secret,
       previous_secret_until = case when w.secret is not null then now() + $3 * interval '1 millisecond' end
   where w.id = $1 returning ${columns}`,
);
