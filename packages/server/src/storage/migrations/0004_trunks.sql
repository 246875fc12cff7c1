-- Limits of trunks and numbers that hold over all workers.

-- A line of a trunk is a row: as many calls are under way at once as there are rows, whoever leads them. A line that is
-- not renewed is free again, so a worker that dies keeps none.
create table trunk_lines (
  trunk text collate "C" not null,
  number integer not null,
  attempt_id text collate "C",
  held_until timestamptz not null default '-infinity',
  primary key (trunk, number)
) with (fillfactor = 50);
create index trunk_lines_free on trunk_lines (trunk, held_until);
create index trunk_lines_by_attempt on trunk_lines (attempt_id) where attempt_id is not null;

-- When the next call over a trunk may begin.
create table trunk_turns (
  trunk text collate "C" primary key,
  next_at timestamptz not null default '-infinity'
) with (fillfactor = 50);

-- What accounts (`account:<id>`) and callees (`number:<phone>`) were called and cost on a day (UTC).
create table daily_usage (
  day date not null,
  scope text collate "C" not null,
  calls integer not null default 0,
  -- In millionths of the trunks' currency.
  spend bigint not null default 0,
  primary key (day, scope)
) with (fillfactor = 70);
