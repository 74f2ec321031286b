-- The unspent part of expiring credits, by the entry that granted them.
create table ledger.expiring_grant (
  account_id text not null references ledger.account,
  position bigint not null,
  expires_at timestamptz not null,
  credits_left bigint not null check (credits_left >= 0),
  primary key (account_id, position)
)
