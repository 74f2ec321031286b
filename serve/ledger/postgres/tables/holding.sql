create table ledger.holding (
  account_id text not null references ledger.account,
  key_id text not null references ledger.api_key,
  month integer not null,
  server_id text not null references ledger.server on delete cascade,
  credits bigint not null check (credits >= 0),
  primary key (account_id, key_id, month, server_id)
)
