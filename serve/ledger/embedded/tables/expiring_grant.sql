-- The unspent part of expiring credits, by the entry that granted them.
create table ledger.expiring_grant (
  account_id text not null,
  position integer not null,
  expires_at text not null,
  credits_left integer not null check (credits_left >= 0),
  primary key (account_id, position)
) strict, without rowid
