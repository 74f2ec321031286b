create table if not exists ingest.check_result (
  run_id varchar not null,
  pipeline varchar not null,
  name varchar not null,
  severity varchar not null,
  bad_rows bigint not null,
  examples json not null,
  description varchar not null
)
