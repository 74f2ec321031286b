-- Credits that expire, by the entries that granted them: what their charges, and their end, have left.
create table ledger.expiring_grant (
  account_id text not null references ledger.account,
  position bigint not null,
  expires_at timestamptz not null,
  credits_left bigint not null check (credits_left >= 0),
  primary key (account_id, position)
)
