create table if not exists snapshot (
  sequence bigint not null,
  taken_at timestamp not null,
  digest varchar not null
)
