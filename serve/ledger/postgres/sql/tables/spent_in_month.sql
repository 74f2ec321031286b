create table ledger.spent_in_month (
  key_id text not null references ledger.api_key,
  month integer not null,
  credits bigint not null,
  primary key (key_id, month)
)
