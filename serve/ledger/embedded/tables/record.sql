-- Every state that an account, a key or a payment has had, in the order of writing. Rows are only added, by triggers. Together
-- with the entries they make the chain that `head` names.
create table ledger.record (
  number integer primary key, -- from 1 without gaps
  after_entry integer not null, -- number of the last entry before it
  kind text not null, -- the table
  body text not null -- the row as JSON; of a payment that was removed its id and `removed`
) strict;
-- One row: how far the chain has been followed, at the latest some seconds behind what is written.
create table ledger.head (
  of text primary key check (of = 'ledger'),
  entries integer not null, -- number of the last entry in it
  records integer not null, -- number of the last record in it
  hash text not null -- SHA-256 over the hash before it and that of the last entry or record
) strict, without rowid;
insert into ledger.head values ('ledger', 0, 0, '')
