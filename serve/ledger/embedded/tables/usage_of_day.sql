create table if not exists usage_of_day (
  day date not null,
  account_id varchar not null,
  key_id varchar not null,
  endpoint varchar not null,
  calls bigint not null,
  credits bigint not null,
  key_hash uinteger
)
