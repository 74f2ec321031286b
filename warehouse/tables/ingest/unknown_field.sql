create table if not exists ingest.unknown_field (
  pipeline varchar not null,
  feed varchar not null,
  field varchar not null,
  run_id varchar not null,
  example varchar not null
)
