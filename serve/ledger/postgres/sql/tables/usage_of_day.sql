create table ledger.usage_of_day (
  account_id text not null,
  day date not null,
  key_id text not null,
  endpoint text not null,
  calls bigint not null,
  credits bigint not null,
  primary key (account_id, day, key_id, endpoint)
)
