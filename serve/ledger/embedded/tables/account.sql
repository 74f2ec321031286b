-- Accounts. Each owns keys and one balance, which is the sum of its entries.
create table ledger.account (
  id text primary key, -- permanent, acct_…
  name text not null, -- given by the operator
  created_at text not null, -- ISO 8601 in UTC, like all timestamps here
  suspended_at text -- null if the account is not suspended
) strict
