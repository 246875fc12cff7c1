-- People who use the console, and what they change.

create table people (
  id text collate "C" primary key,
  -- In lower case.
  email text collate "C" not null,
  name text not null,
  -- Says how it was made; see authoring/passwords.ts.
  password_hash text not null,
  -- Runs the deployment: may do everything in every account.
  operator boolean not null default false,
  created_at timestamptz not null default now(),
  -- Rows stay, because the audit log points to them.
  removed_at timestamptz
);
create unique index people_by_email on people (email) where removed_at is null;

create table memberships (
  person_id text collate "C" not null references people,
  account_id text collate "C" not null references accounts,
  role text not null check (role in ('viewer', 'author', 'owner')),
  created_at timestamptz not null default now(),
  primary key (person_id, account_id)
);
create index memberships_by_account on memberships (account_id, person_id);

create table sessions (
  -- SHA-256 of the cookie's value.
  token_hash bytea primary key,
  person_id text collate "C" not null references people,
  created_at timestamptz not null default now(),
  -- Moves on while the session is used, never beyond `ends_at`.
  expires_at timestamptz not null,
  ends_at timestamptz not null,
  check (expires_at <= ends_at)
);
create index sessions_by_person on sessions (person_id);

-- One-time links: to become a person of the deployment, or, with a person, to choose a new password.
create table invitations (
  -- SHA-256 of the link's secret.
  token_hash bytea primary key,
  person_id text collate "C" references people,
  -- Null: whoever has the link says which; so begins the first person.
  email text collate "C",
  -- Null for operators and new passwords.
  account_id text collate "C" references accounts,
  role text check (role in ('viewer', 'author', 'owner')),
  operator boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  check ((account_id is null) = (role is null))
);

create table audit_log (
  id text collate "C" primary key,
  -- Null: the program itself.
  person_id text collate "C" references people,
  -- Null: of the whole deployment.
  account_id text collate "C" references accounts,
  action text collate "C" not null,
  -- The id of what was changed.
  object_id text collate "C" not null,
  details json not null,
  created_at timestamptz not null default now()
);
create index audit_log_by_account on audit_log (account_id, id);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is only ever added to';
end
$$;
create trigger audit_log_only_grows before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

alter table goals
  -- What an author is writing, newer than `draft` and not valid yet; null when `draft` is the newest.
  add column unfinished json,
  -- Raised by every change of either, so that an author notices another's.
  add column draft_revision integer not null default 1;
