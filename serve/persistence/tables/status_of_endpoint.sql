-- Calls per UTC day, endpoint and HTTP status, over all keys of an account. A year of 300 keys has 330,000 rows in
-- `usage_of_status`; this table spares pages from reading them.
create table console.status_of_endpoint (
  account_id text not null,
  day text not null,
  endpoint text not null,
  status integer not null,
  calls integer not null,
  primary key (account_id, day, endpoint, status)
)
