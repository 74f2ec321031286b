create table if not exists ingest.odd_value (
  pipeline varchar not null,
  feed varchar not null,
  kind varchar not null,
  field varchar not null,
  said varchar not null,
  rows bigint not null,
  run_id varchar not null
)
