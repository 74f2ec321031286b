create table if not exists exchange_rate.rate (
  currency varchar not null,
  day date not null,
  rate decimal(18, 6) not null,
  rate_text varchar not null,
  run_id varchar not null,
  raw_sha256 varchar not null,
  fetched_at timestamp not null,
  source_row integer not null
)
