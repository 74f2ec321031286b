create table ledger.server (
  id text primary key,
  seen_at timestamptz not null
)
