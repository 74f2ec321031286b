-- Every transaction that charges or changes an account locks its row first.
create table ledger.account (
  id text primary key,
  name text not null,
  created_at timestamptz not null,
  suspended_at timestamptz,
  position bigint not null,
  balance bigint not null,
  hash text not null,
  reversed_credits bigint not null default 0,
  constraint account_is_covered check (balance + reversed_credits >= 0)
)
