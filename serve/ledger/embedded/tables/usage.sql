-- Charged calls minus refunded ones, and the credits charged for them, per UTC day, key and endpoint.
create table sums.usage_of_day (
  account_id text not null,
  day text not null,
  key_id text not null,
  endpoint text not null,
  calls integer not null,
  credits integer not null,
  primary key (account_id, day, key_id, endpoint)
) strict, without rowid;
-- The same for all keys together.
create table sums.usage_of_endpoint (
  account_id text not null,
  day text not null,
  endpoint text not null,
  calls integer not null,
  credits integer not null,
  primary key (account_id, day, endpoint)
) strict, without rowid;
-- The same for all days of a UTC month together. `month` is 12 × year + month - 1. The newest months are
-- adjacent in the primary key, because a start reads what keys have spent in them.
create table sums.usage_of_month (
  month integer not null,
  account_id text not null,
  key_id text not null,
  endpoint text not null,
  calls integer not null,
  credits integer not null,
  primary key (month, account_id, key_id, endpoint)
) strict, without rowid;
-- One row: the last entry that these tables include, and its hash. Later entries are read from `entry`.
create table sums.progress (
  of text primary key check (of = 'ledger'),
  sequence integer not null,
  hash text not null
) strict, without rowid;
insert into sums.progress values ('ledger', 0, '')
