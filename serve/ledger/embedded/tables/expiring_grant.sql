-- Credits that expire, by the entries that granted them: what their charges, and their end, have left.
create table ledger.expiring_grant (
  account_id text not null,
  position integer not null,
  expires_at text not null,
  credits_left integer not null check (credits_left >= 0),
  primary key (account_id, position)
) strict, without rowid
