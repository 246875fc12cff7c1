-- The processes of the deployment, test calls over trunks, and how good a call sounded.

-- A row for each process that runs a role; it is renewed every few seconds. Those that stopped renewing it are removed
-- by the others.
create table workers (
  id text collate "C" primary key,
  host text not null,
  version text not null,
  roles text[] not null,
  started_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  live_calls integer not null default 0,
  -- What the process says of its trunks, and of the providers that it asks.
  trunks json not null default '[]',
  providers json not null default '[]',
  drain_requested_at timestamptz,
  draining boolean not null default false
) with (fillfactor = 50);

create table test_calls (
  id text collate "C" primary key,
  trunk text collate "C" not null,
  phone text not null,
  state text not null default 'waiting' check (state in ('waiting', 'calling', 'ended')),
  -- Who leads it. It is claimed once and never again: the claim is the intent to dial (I4).
  worker text,
  fence bigint not null default 0,
  leased_until timestamptz,
  -- What happened, in order: {step, at}.
  steps json not null default '[]',
  outcome text,
  ended_by text,
  sip_status integer,
  q850 integer,
  note text,
  provider_call_id text,
  media json,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  check ((state = 'calling') = (leased_until is not null)),
  check ((state = 'ended') = (outcome is not null)),
  check ((state = 'ended') = (ended_at is not null))
);
-- One at a time over a trunk.
create unique index test_calls_live on test_calls (trunk) where state <> 'ended';
create index test_calls_by_trunk on test_calls (trunk, id);

-- Measured at the end of an answered attempt; null where there was no sound.
alter table attempts add column media json;
