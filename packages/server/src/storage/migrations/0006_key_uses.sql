-- compatible-from: 0005

-- To the minute; null: not since this is noted.
alter table api_keys add column last_used_at timestamptz;
