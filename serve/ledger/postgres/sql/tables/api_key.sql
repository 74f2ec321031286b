create table ledger.api_key (
  id text primary key,
  account_id text not null references ledger.account,
  name text not null,
  scopes text[] not null,
  budget_credits bigint not null check (budget_credits >= 0),
  sha256 text not null unique,
  last4 text not null,
  former_sha256 text,
  former_last4 text,
  former_expires_at timestamptz,
  created_at timestamptz not null,
  revoked_at timestamptz,
  expires_at timestamptz,
  revision integer not null,
  unique (account_id, id)
)
