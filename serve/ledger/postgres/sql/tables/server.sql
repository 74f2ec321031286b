-- `groups` counts the groups that a server has decided in the database. If it differs from the server's own count, the
-- database has lost commits (it may be a restored copy), and the server joins again.
create table ledger.server (
  id text primary key,
  seen_at timestamptz not null,
  groups bigint not null default 0
)
