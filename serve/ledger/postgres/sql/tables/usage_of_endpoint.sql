-- Sums of `usage_of_day` over all keys.
create table ledger.usage_of_endpoint (
  account_id text not null,
  day date not null,
  endpoint text not null,
  calls bigint not null,
  credits bigint not null,
  primary key (account_id, day, endpoint)
)
