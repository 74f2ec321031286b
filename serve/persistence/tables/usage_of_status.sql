-- Calls per UTC day, key, endpoint and HTTP status, charged or not.
create table console.usage_of_status (
  day text not null,
  account_id text not null,
  key_id text not null,
  endpoint text not null,
  status integer not null,
  calls integer not null,
  primary key (account_id, day, key_id, endpoint, status)
)
