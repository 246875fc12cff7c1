-- A turn may hold several facts, and says how long the callee waited for it.

-- A list of what the agent understood from the turn.
alter table turns add column notes json;
update turns set notes = json_build_array(note) where note is not null;
alter table turns drop column note;
-- Parts of the wait in milliseconds; see agents/latency.ts.
alter table turns add column latency json;
