create table if not exists ingest.cursor (
  pipeline varchar not null,
  feed varchar not null,
  run_id varchar not null,
  read_to varchar not null,
  mapping_sha256 varchar not null
)
