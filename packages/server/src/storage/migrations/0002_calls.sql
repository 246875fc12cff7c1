-- Calls: the deprecated call tasks (`/v1/calls`) and one-shot calls (`/v2/calls`). Each number that a call reaches for
-- is a run of its own, so that everything from the queue to the transcript is the same as for Goal Runs.

-- The numbers that callees see. A dedicated number belongs to one account; the others are shared.
create table numbers (
  id text collate "C" primary key,
  phone text collate "C" not null unique,
  account_id text collate "C" references accounts,
  created_at timestamptz not null default now()
);

alter table accounts
  -- ISO 3166-1 alpha-2: how national numbers in the text of a task are read.
  add column region text not null default 'US',
  -- A dedicated number of the account; without one its calls leave on the shared lines.
  add column default_number text collate "C" references numbers (phone),
  -- Call tasks that may be in progress at once; null means what its lines allow.
  add column max_active_tasks integer check (max_active_tasks >= 1);

-- What the agent is to do in a call is pinned as a RunSpec without a Goal.
alter table run_specs alter column goal_id drop not null;

alter table runs
  alter column goal_id drop not null,
  add column call_id text collate "C",
  add column recipient_id text collate "C",
  add check ((goal_id is null) = (call_id is not null)),
  add check ((call_id is null) = (recipient_id is null));
create index runs_by_call on runs (call_id, id) where call_id is not null;

create table calls (
  id text collate "C" primary key,
  account_id text collate "C" not null,
  kind text not null check (kind in ('task', 'one_shot')),
  task text not null,
  region text not null,
  locale text not null,
  result_schema json,
  recipient_result_schema json,
  metadata json not null,
  webhook_url text,
  -- Recipients that may be called at once.
  parallel integer not null check (parallel >= 1),
  -- `queued`: a call task that waits for others of its account, or a one-shot call that was not dialled yet.
  status text not null check (status in ('queued', 'in_progress', 'completed', 'failed', 'canceled')),
  cancel_requested_at timestamptz,
  result json,
  -- Why there is no result, and why a call has failed: codes of the contract's lists.
  error_code text,
  error_detail_code text,
  summary text,
  task_completed boolean,
  confidence double precision check (confidence between 0 and 1),
  -- Short quotes that support the outcome; set exactly when nothing about the call will change any more.
  evidence json,
  -- The number of the trace's last event. Raised in the statement that appends one, so events get their numbers in the
  -- order of their commits, and a reader who has seen one has seen all before it.
  event_seq integer not null default 0,
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  check ((completed_at is null) = (status in ('queued', 'in_progress'))),
  check (completed_at >= created_at),
  check (evidence is null or completed_at is not null)
) with (fillfactor = 70);
create index calls_by_account on calls (account_id, id);
-- Call tasks that count against their account's limit, in the order of their arrival.
create index calls_in_progress on calls (account_id, id) where kind = 'task' and status = 'in_progress';
create index calls_queued on calls (account_id, id) where kind = 'task' and status = 'queued';

create table recipients (
  id text collate "C" primary key,
  call_id text collate "C" not null,
  position integer not null,
  -- Tried in this order until a person answers.
  phones text[] not null,
  -- What the agent is told; the same for all recipients of one locale.
  run_spec_id text collate "C" not null,
  region text not null,
  locale text not null,
  status text not null default 'pending'
    check (status in ('pending', 'in_progress', 'completed', 'failed', 'skipped')),
  result json,
  summary text,
  unique (call_id, position)
);

-- What became of an Idempotency-Key: it is being looked at (until a deadline, in case we die), it made a call, or the
-- creation failed for good and the same answer is given again.
create table call_keys (
  account_id text collate "C" not null,
  api text collate "C" not null check (api in ('v1', 'v2')),
  key text collate "C" not null,
  -- SHA-256 of the canonical request.
  fingerprint bytea not null,
  -- Who is looking at it, as an id that is never used again.
  creator text collate "C",
  creating_until timestamptz,
  call_id text collate "C",
  failure_status integer,
  failure_body text,
  primary key (account_id, api, key),
  check (num_nonnulls(creator, call_id, failure_body) = 1),
  check ((creator is null) = (creating_until is null)),
  check ((failure_status is null) = (failure_body is null))
);

-- A job is for a run or, to conclude it, for a call.
alter table jobs rename column run_id to subject_id;
alter table jobs drop constraint jobs_queue_check;
alter table jobs add constraint jobs_queue_check check (queue in ('dial', 'extract', 'conclude'));

-- A trace is that of a call, or of a run that belongs to none. Events of a call wait for its row: they are dated when
-- they have it, so that their times never run backwards.
alter table events rename column run_id to trace_id;
alter table events alter column created_at set default clock_timestamp();

-- When the phone began to ring, or said something else that let us know that the call was on its way to a person.
alter table attempts add column ringing_at timestamptz;
