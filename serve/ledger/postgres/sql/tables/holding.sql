-- What a server holds of accounts that are not leased; the holds of a leased account are in the memory of its server.
-- `month`: the UTC month in which the calls were admitted, 12 × year + month − 1. `reserved`: the part that no call holds
-- yet; it belongs to a slice.
create table ledger.holding (
  account_id text not null,
  key_id text not null,
  month integer not null,
  server_id text not null references ledger.server on delete cascade,
  credits bigint not null check (credits >= 0),
  reserved bigint not null check (reserved between 0 and credits),
  primary key (account_id, key_id, month, server_id)
)
