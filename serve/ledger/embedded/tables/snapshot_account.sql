create table if not exists snapshot_account (
  account_id varchar not null,
  position bigint not null,
  balance bigint not null,
  hash varchar not null
)
