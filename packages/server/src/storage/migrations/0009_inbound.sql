-- Inbound Goals: calls to one of our numbers are answered, and become runs like any other.

alter table goals add unique (id, account_id);

alter table numbers
  add column label text not null default '',
  -- How it became ours; nothing but an operator's word so far.
  add column origin text not null default 'entered' check (origin in ('entered')),
  -- The Goal that answers calls to it: one of the account whose own the number is.
  add column inbound_goal_id text collate "C",
  add check (inbound_goal_id is null or account_id is not null),
  add constraint numbers_inbound_goal_fkey foreign key (inbound_goal_id, account_id)
    references goals (id, account_id) deferrable initially deferred;
create index numbers_by_inbound_goal on numbers (inbound_goal_id) where inbound_goal_id is not null;

-- Accounts and numbers refer to each other; a transfer writes one before the other.
alter table accounts alter constraint accounts_default_number_fkey deferrable initially deferred;

alter table accounts
  add column max_inbound_calls integer not null default 5 check (max_inbound_calls >= 1),
  -- Inbound calls that hold a slot now: always the number of this account's leased inbound jobs.
  add column active_inbound_calls integer not null default 0 check (active_inbound_calls >= 0);

alter table runs
  add column direction text not null default 'outbound' check (direction in ('outbound', 'inbound')),
  -- The number of ours that was called.
  add column number_id text collate "C",
  -- The other party's number; null: a caller who does not show it.
  alter column phone drop not null,
  add check ((direction = 'inbound') = (number_id is not null)),
  add check (direction = 'inbound' or phone is not null),
  add check (direction = 'outbound' or goal_id is not null);

alter table jobs
  -- Answered, not dialled.
  add column inbound boolean not null default false,
  -- A call that somebody makes to us waits for no worker: its job is held from the beginning, and never dialled.
  add check (not inbound or (queue = 'dial' and worker is not null));
