-- The console lists what was delivered for an account, newest first.
create index webhook_events_by_account on webhook_events (account_id, id);
