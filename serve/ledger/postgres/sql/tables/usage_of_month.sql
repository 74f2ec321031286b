-- Sums of `usage_of_day` per month, for periods that contain whole months. `month` is 12 × year + month − 1.
create table ledger.usage_of_month (
  account_id text not null,
  month integer not null,
  key_id text not null,
  endpoint text not null,
  calls bigint not null,
  credits bigint not null,
  primary key (account_id, month, key_id, endpoint)
)
