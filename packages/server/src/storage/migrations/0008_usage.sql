-- compatible-from: 0005

-- What calls would cost by the preview table: nothing is charged by it. Amounts are millionths of a US dollar.

-- An attempt that has ended. The prices are those of the time when it was counted. No phone numbers.
create table usage (
  attempt_id text collate "C" primary key,
  run_id text collate "C" not null,
  account_id text collate "C" not null,
  goal_id text collate "C",
  call_id text collate "C",
  mode text not null check (mode in ('goal', 'one_shot')),
  direction text not null check (direction in ('outbound', 'inbound')),
  -- ISO 3166-1 alpha-2, of the other side's number; null when it has none.
  country text,
  domestic boolean not null,
  -- On which it ended, in UTC.
  day date not null,
  -- From the answer to the end; null: nobody answered.
  answered_ms bigint check (answered_ms >= 0),
  model_periods integer not null check (model_periods >= 1),
  model_per_period bigint not null check (model_per_period >= 0),
  model_amount bigint not null check (model_amount >= 0),
  -- What the carrier bills; null with its amount when there is no rate, null alone when nobody answered.
  carrier_seconds integer,
  carrier_per_minute bigint,
  -- First and next increment in seconds, such as 60/60.
  carrier_increments text,
  -- Null: not known.
  carrier_amount bigint check (carrier_amount >= 0),
  check ((goal_id is null) = (call_id is not null))
);
create index usage_by_account on usage (account_id, day, attempt_id);

-- Sums of `usage`, changed in the statement that adds to it: a budget is compared without reading a month of rows.
create table usage_months (
  account_id text collate "C" not null,
  -- Its first day.
  month date not null,
  amount bigint not null,
  -- Attempts whose carrier fee is not in the amount, because there is no rate.
  unknown integer not null,
  -- The highest threshold of the budget of which people were told.
  told_percent integer not null default 0,
  primary key (account_id, month)
) with (fillfactor = 50);

-- Every attempt up to this one has its row in `usage`.
create table usage_mark (
  only_row boolean primary key default true check (only_row),
  attempt_id text collate "C" not null
);
insert into usage_mark (attempt_id) values ('att_');

-- Null: no budget.
alter table accounts add column monthly_budget bigint check (monthly_budget > 0);
create index accounts_with_budget on accounts (id) where monthly_budget is not null;
