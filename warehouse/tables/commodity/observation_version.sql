create table if not exists commodity.observation_version (
  metric_name varchar not null,
  observed_on date not null,
  value decimal(18, 6) not null,
  value_text varchar not null,
  published_at timestamp not null,
  revision_status varchar,
  freight varchar,
  run_id varchar not null,
  raw_sha256 varchar not null,
  fetched_at timestamp not null,
  source_row bigint not null
)
