-- Sums of `usage_of_status`, for what months a key's page has as a whole. `month` is counted from the year 0.
create table if not exists console.status_of_month (
  account_id text not null,
  key_id text not null,
  month integer not null,
  endpoint text not null,
  status integer not null,
  calls bigint not null,
  primary key (account_id, key_id, month, endpoint, status)
)
