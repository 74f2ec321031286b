-- API keys as they are now, revoked and expired ones included. What they were before is in `record`.
create table ledger.api_key (
  id text primary key, -- permanent, key_…; not the key itself, which is stored nowhere
  account_id text not null references account,
  name text not null,
  scopes text not null, -- a JSON array
  budget_credits integer not null check (budget_credits >= 0), -- for a calendar month in UTC
  sha256 text not null unique, -- of the key, in hexadecimal
  last4 text not null,
  created_at text not null,
  revoked_at text, -- null while it is not revoked
  expires_at text, -- null where it does not end by itself
  revision integer not null -- counts the changes of the row, from 1
) strict
