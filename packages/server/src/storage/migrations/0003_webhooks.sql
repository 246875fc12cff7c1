-- Webhooks: who is told of the end of a call, what they are told, and each try to do so. `call_id` is plain text: what
-- was published outlives its call.

create table webhook_endpoints (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  url text not null,
  description text not null,
  types text[] not null,
  -- Kept as it is, because it signs; null leaves deliveries unsigned.
  secret text,
  -- Signs as well until the receiver has had time to learn the new one.
  previous_secret text,
  previous_secret_until timestamptz,
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('operator', 'gone', 'failing')),
  -- The first failure since the last success.
  failing_since timestamptz,
  created_at timestamptz not null default now(),
  check ((previous_secret is null) = (previous_secret_until is null)),
  check ((disabled_at is null) = (disabled_reason is null))
);
create index webhook_endpoints_by_account on webhook_endpoints (account_id, id);

create table webhook_events (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  -- Null for a test event.
  call_id text collate "C",
  type text not null,
  -- The exact text that is sent.
  body text not null,
  created_at timestamptz not null default now()
);
create index webhook_events_by_age on webhook_events (created_at);

create table webhook_deliveries (
  id text collate "C" primary key,
  event_id text collate "C" not null,
  call_id text collate "C",
  -- Null for the URL that came with the call.
  endpoint_id text collate "C",
  url text not null,
  -- Deliveries of one lane share a receiver: they wait for each other and for nobody else.
  lane text collate "C" not null,
  -- `ready`: to be sent now; `waiting`: for its next try; `sending`: leased by a worker. The others are ends.
  state text not null default 'ready'
    check (state in ('ready', 'waiting', 'sending', 'delivered', 'failed', 'abandoned')),
  tries integer not null default 0,
  due_at timestamptz not null default now(),
  worker text,
  leased_until timestamptz,
  fence bigint not null default 0,
  last_status integer,
  last_error text,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  check ((state = 'sending') = (worker is not null)),
  check ((worker is null) = (leased_until is null)),
  check ((state in ('delivered', 'failed', 'abandoned')) = (ended_at is not null))
) with (fillfactor = 80);
create index webhook_deliveries_ready on webhook_deliveries (lane, due_at, id) where state = 'ready';
create index webhook_deliveries_waiting on webhook_deliveries (due_at) where state = 'waiting';
create index webhook_deliveries_leased on webhook_deliveries (leased_until) where state = 'sending';
create index webhook_deliveries_by_event on webhook_deliveries (event_id);
create index webhook_deliveries_by_endpoint on webhook_deliveries (endpoint_id, id) where endpoint_id is not null;
create index webhook_deliveries_by_call on webhook_deliveries (call_id, id) where call_id is not null;

create table webhook_tries (
  delivery_id text collate "C" not null,
  -- Of the lease under which it was made: unique, and grows.
  fence bigint not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  status integer,
  error text,
  -- The beginning of what the receiver answered.
  response text,
  primary key (delivery_id, fence),
  check ((status is null) <> (error is null))
);
