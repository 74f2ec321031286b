-- The current state of API keys, including revoked and expired ones.
create table ledger.api_key (
  id text primary key, -- permanent, key_…; not the key itself, which is not stored
  account_id text not null references account,
  name text not null,
  scopes text not null, -- a JSON array
  budget_credits integer not null check (budget_credits >= 0), -- per calendar month in UTC
  sha256 text not null unique, -- of the key, in hexadecimal
  last4 text not null,
  former_sha256 text, -- of the replaced secret
  former_last4 text,
  former_expires_at text, -- when the replaced secret expires
  created_at text not null,
  revoked_at text, -- null while it is not revoked
  expires_at text, -- null if it does not expire
  revision integer not null -- counts the changes of the row, from 1
) strict
