-- `groups` counts what a server has decided in the database. A server that finds another number than its own talks to a
-- database that has lost commits, such as a restored copy, and starts over.
create table ledger.server (
  id text primary key,
  seen_at timestamptz not null,
  groups bigint not null default 0
)
