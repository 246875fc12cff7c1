-- Who answered the calls that we placed, as far as the agent could tell.

alter table attempts add column answered_by text
  check (answered_by in ('human', 'menu', 'voicemail', 'announcement', 'uncertain'));
