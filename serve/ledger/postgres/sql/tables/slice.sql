-- A slice lets a server decide calls of a shared account in its memory, within the credits that it has reserved in
-- `ledger.holding`. `is_asked`: the server must return the slice, that is, all reserved credits that no call holds.
create table ledger.slice (
  account_id text not null references ledger.account,
  server_id text not null references ledger.server on delete cascade,
  is_asked boolean not null default false,
  primary key (account_id, server_id)
)
