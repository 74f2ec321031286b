create table if not exists ingest.left_out (
  run_id varchar not null,
  pipeline varchar not null,
  feed varchar not null,
  kind varchar not null,
  reason varchar not null
)
