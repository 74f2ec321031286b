-- Every state of an account, a key or a payment, in write order. Rows are only added, by triggers. Together with the
-- entries they form the chain of `head`.
create table ledger.record (
  number integer primary key, -- from 1 without gaps
  after_entry integer not null, -- number of the last entry before it
  kind text not null, -- the table
  body text not null -- the row as JSON; for a removed payment, its id and `removed`
) strict;
-- One row: how far the chain has been followed. A server with an anchor updates it every second, one without an anchor
-- at least every minute.
create table ledger.head (
  of text primary key check (of = 'ledger'),
  entries integer not null, -- number of the last entry that it includes
  records integer not null, -- number of the last record that it includes
  hash text not null -- SHA-256 over the previous hash and that of the last entry or record
) strict, without rowid;
insert into ledger.head values ('ledger', 0, 0, '')
