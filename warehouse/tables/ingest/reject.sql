create table if not exists ingest.reject (
  pipeline varchar not null,
  feed varchar not null,
  run_id varchar not null,
  raw_sha256 varchar not null,
  position bigint not null,
  reason varchar not null,
  payload varchar not null
)
