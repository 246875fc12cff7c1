-- Up Migration

-- Calls of an account begin by saying that an automated assistant is calling, unless somebody has switched that off and
-- said why.
alter table accounts
  add column disclosure_off_at timestamptz,
  -- The person of the console; null for the operator API.
  add column disclosure_off_by text collate "C",
  add column disclosure_off_reason text,
  add check ((disclosure_off_at is null) = (disclosure_off_reason is null)),
  add check (disclosure_off_at is not null or disclosure_off_by is null);
