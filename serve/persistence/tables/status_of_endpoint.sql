-- Calls per UTC day, endpoint and HTTP status, over all keys of an account. Pages read this instead of `usage_of_status`,
-- which has 330,000 rows for a year of 300 keys.
create table console.status_of_endpoint (
  account_id text not null,
  day text not null,
  endpoint text not null,
  status integer not null,
  calls integer not null,
  primary key (account_id, day, endpoint, status)
)
