-- What a server holds of accounts that are not leased. Leases have no rows: their holds are in the memory of the server.
create table ledger.holding (
  account_id text not null,
  key_id text not null,
  month integer not null,
  server_id text not null references ledger.server on delete cascade,
  credits bigint not null check (credits >= 0),
  primary key (account_id, key_id, month, server_id)
)
