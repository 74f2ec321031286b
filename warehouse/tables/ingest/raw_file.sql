create table if not exists ingest.raw_file (
  raw_sha256 varchar not null,
  url varchar not null,
  pipeline varchar not null,
  feed varchar not null,
  run_id varchar not null,
  fetched_at timestamp not null,
  bytes bigint not null,
  content_type varchar,
  rows_read bigint not null,
  rows_rejected bigint not null,
  rows_stated bigint,
  mapping_sha256 varchar not null,
  window_from date,
  window_to date,
  origin varchar not null
)
