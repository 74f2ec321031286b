-- Sums of `usage_of_status`, of all keys together: what a page of a year reads.
create table if not exists console.status_of_endpoint (
  account_id text not null,
  day text not null,
  endpoint text not null,
  status integer not null,
  calls integer not null,
  primary key (account_id, day, endpoint, status)
)
