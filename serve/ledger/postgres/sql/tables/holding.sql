-- What a server holds of accounts that are not leased, by the UTC day on which its calls were admitted, counted from
-- 1970-01-01, and by the credits that they take: `grant_position` is the position of an expiring grant, or 0 for
-- credits that do not expire. A lease has no rows: its holds are in the memory of the server. `reserved`: the part that
-- no call holds yet; it belongs to a slice.
create table ledger.holding (
  account_id text not null,
  key_id text not null,
  day integer not null,
  grant_position bigint not null,
  server_id text not null references ledger.server on delete cascade,
  credits bigint not null check (credits >= 0),
  reserved bigint not null check (reserved between 0 and credits),
  primary key (account_id, key_id, day, grant_position, server_id)
)
