-- API keys as they are now, revoked and expired ones included. What they were before is in `record`.
create table ledger.api_key (
  id text primary key, -- permanent, key_…; not the key itself, which is stored nowhere
  account_id text not null references account,
  name text not null,
  scopes text not null, -- a JSON array
  budget_credits integer not null check (budget_credits >= 0), -- for a calendar month in UTC
  daily_budget_credits integer check (daily_budget_credits >= 0), -- for a UTC day; null where there is none
  weekly_budget_credits integer check (weekly_budget_credits >= 0), -- for a week from Monday; null where there is none
  sha256 text not null unique, -- of the key, in hexadecimal
  last4 text not null,
  former_sha256 text, -- of the key that this one has replaced
  former_last4 text,
  former_expires_at text, -- when that one ends
  created_at text not null,
  revoked_at text, -- null while it is not revoked
  expires_at text, -- null where it does not end by itself
  revision integer not null -- counts the changes of the row, from 1
) strict
