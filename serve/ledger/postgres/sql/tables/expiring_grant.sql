-- Expiring credits, by the entry that granted them: what charges and expiry have left of them.
create table ledger.expiring_grant (
  account_id text not null references ledger.account,
  position bigint not null,
  expires_at timestamptz not null,
  credits_left bigint not null check (credits_left >= 0),
  primary key (account_id, position)
)
