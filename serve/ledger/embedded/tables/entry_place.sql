-- The entries of each account: an index of `entry` that is written in batches, see `progress`. Updating it with each
-- entry would cost a page of the file for each account of a group.
create table sums.entry_place (
  account_id text not null,
  position integer not null,
  sequence integer not null,
  primary key (account_id, position)
) strict, without rowid
