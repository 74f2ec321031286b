create table ledger.account (
  id text primary key,
  name text not null,
  created_at timestamptz not null,
  position bigint not null,
  balance bigint not null check (balance >= 0),
  hash text not null
)
