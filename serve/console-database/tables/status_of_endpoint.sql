-- The same of all keys together: a year of 300 keys has 330,000 rows of `usage_of_status`, and a page of it waits for none.
create table console.status_of_endpoint (
  account_id text not null,
  day text not null,
  endpoint text not null,
  status integer not null,
  calls integer not null,
  primary key (account_id, day, endpoint, status)
)
