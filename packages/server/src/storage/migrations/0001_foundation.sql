-- Up Migration

-- Ids are text in byte order ("C"): they sort by creation time, and no locale rule slows a comparison.
-- JSON is kept as `json`, not `jsonb`: it must come back with the keys in the order in which it was written.
-- The hot tables (runs, idempotency_keys, jobs) carry no foreign keys: their rows are written by one
-- statement that has just read the rows that they point to, and the checks would cost a third of it.

create table deployment (
  only_row boolean primary key default true check (only_row),
  environment text not null check (environment in ('test', 'production')),
  -- Signs list cursors; shared by all processes.
  cursor_secret bytea not null,
  created_at timestamptz not null default now()
);

create table operator_tokens (
  token_hash bytea primary key,
  created_at timestamptz not null default now()
);

create table accounts (
  id text collate "C" primary key,
  name text not null unique,
  max_active_calls integer not null check (max_active_calls >= 1),
  -- Calls that hold a slot now: always the number of this account's leased dial jobs.
  active_calls integer not null default 0 check (active_calls >= 0),
  created_at timestamptz not null default now()
);

-- The same counter for what all accounts share: 'deployment' and 'carrier:<name>'.
create table capacity (
  scope text collate "C" primary key,
  active_calls integer not null default 0 check (active_calls >= 0)
);

create table api_keys (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  secret_hash bytea not null,
  scopes text[] not null,
  -- Regions (ISO 3166-1 alpha-2) whose Goals the key may run; null means all.
  regions text[],
  expires_at timestamptz,
  revoked_at timestamptz,
  created_at timestamptz not null default now()
);
create index api_keys_by_account on api_keys (account_id, id);

create table goals (
  id text collate "C" primary key,
  account_id text collate "C" not null references accounts,
  state text not null default 'draft' check (state in ('draft', 'active', 'paused', 'retired')),
  listed boolean not null default true,
  draft json not null,
  published_run_spec_id text collate "C",
  -- The highest version ever published; versions are never used twice.
  latest_version integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (published_run_spec_id is null or latest_version > 0)
);
create index goals_by_account on goals (account_id, id);

-- A publication; immutable.
create table run_specs (
  id text collate "C" primary key,
  goal_id text collate "C" not null references goals,
  version integer not null check (version >= 1),
  content json not null,
  published_at timestamptz not null default now(),
  unique (goal_id, version)
);

create table runs (
  id text collate "C" primary key,
  public_id text collate "C" not null unique,
  account_id text collate "C" not null,
  goal_id text collate "C" not null,
  run_spec_id text collate "C" not null,
  run_spec_version integer not null,
  phone text not null,
  variables json not null,
  status text not null check (status in ('queued', 'in_progress', 'completed', 'failed', 'canceled')),
  -- The selected attempt: the public call_id.
  attempt_id text collate "C",
  result json,
  -- Per field: value, turns, quote.
  evidence json,
  error_code text,
  error_detail_code text,
  cancel_requested_at timestamptz,
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  -- I5: result xor error, a result only of a completed call, a time of completion exactly when ended.
  check (result is null or error_code is null),
  check (result is null or status = 'completed'),
  check (error_code is not null or status not in ('failed', 'canceled')),
  check ((completed_at is null) = (status in ('queued', 'in_progress'))),
  check (completed_at >= created_at)
) with (fillfactor = 85);
create index runs_by_goal on runs (goal_id, public_id);

-- A key of its own table, so that runs can be partitioned by time without losing I2.
create table idempotency_keys (
  -- What the key is unique in: the goal id (a Goal has one owner).
  scope text collate "C" not null,
  key text collate "C" not null,
  -- SHA-256 of the canonical request.
  fingerprint bytea not null,
  run_id text collate "C" not null,
  primary key (scope, key)
);

create table jobs (
  queue text collate "C" not null check (queue in ('dial', 'extract')),
  -- The run that the work is for; one job of a kind at a time.
  run_id text collate "C" not null,
  account_id text collate "C" not null,
  due_at timestamptz not null,
  tries integer not null default 0,
  -- Grows with every claim; a write that carries an older one is refused (I6).
  fence bigint not null default 0,
  worker text,
  -- The carrier whose slot a leased dial job holds, beside its account's and the deployment's.
  carrier text,
  leased_until timestamptz,
  primary key (queue, run_id),
  check ((worker is null) = (leased_until is null))
) with (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
-- The claim walks from owner to owner along this index, so one owner's backlog costs the others nothing.
create index jobs_ready on jobs (queue, account_id, due_at) where worker is null;
create index jobs_leased on jobs (queue, leased_until) where worker is not null;

create table attempts (
  id text collate "C" primary key,
  run_id text collate "C" not null,
  -- I4: one attempt of a number exists once, whatever two workers believe.
  number integer not null,
  carrier text not null,
  state text not null check (state in ('dialing', 'ringing', 'answered', 'ended')),
  outcome text,
  ended_by text,
  provider_call_id text,
  sip_status integer,
  q850 integer,
  note text,
  -- Committed before anything leaves for the carrier.
  dial_intent_at timestamptz not null default now(),
  answered_at timestamptz,
  ended_at timestamptz,
  unique (run_id, number),
  check ((state = 'ended') = (ended_at is not null)),
  check ((state = 'ended') = (outcome is not null))
);

create table turns (
  attempt_id text collate "C" not null,
  index integer not null,
  speaker text not null check (speaker in ('bot', 'user', 'unknown')),
  text text not null,
  -- Milliseconds since the answer, on the leg's own clock.
  offset_ms integer not null,
  interrupted boolean not null,
  note json,
  primary key (attempt_id, index)
);

-- The trace of a run. Its first event, the acceptance, is the runs row itself.
create table events (
  run_id text collate "C" not null,
  seq integer not null,
  id text collate "C" not null,
  type text not null,
  details json not null,
  created_at timestamptz not null default now(),
  primary key (run_id, seq)
);

-- People who asked not to be called again, by account.
create table do_not_call (
  account_id text collate "C" not null references accounts,
  phone text collate "C" not null,
  run_id text collate "C",
  created_at timestamptz not null default now(),
  primary key (account_id, phone)
);
