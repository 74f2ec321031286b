-- Slices: servers that decide calls of a shared account in their memory, each within the credits that it has reserved
-- in `ledger.holding`. `is_asked`: the end of the slice has been requested, except for what calls hold.
create table ledger.slice (
  account_id text not null references ledger.account,
  server_id text not null references ledger.server on delete cascade,
  is_asked boolean not null default false,
  primary key (account_id, server_id)
)
