create table if not exists snapshot_spending (
  key_id varchar not null,
  month integer not null,
  spent bigint not null,
  budget bigint not null
)
