-- `leased_by`: the server that decides calls of the account in its memory; without effect once that server is no longer
-- in `ledger.server`. `lease_asked`: the end of the lease has been requested. `used_by`: the server that last decided a
-- call in the database. `shared_at`: when several servers last used the account; no server takes a lease for some time
-- afterwards. `recalled_at`: when the end of all slices was last requested.
create table ledger.account (
  id text primary key,
  name text not null,
  created_at timestamptz not null,
  position bigint not null,
  balance bigint not null,
  hash text not null,
  money_out bigint not null default 0,
  leased_by text,
  lease_asked boolean not null default false,
  used_by text,
  shared_at timestamptz,
  recalled_at timestamptz,
  constraint account_is_covered check (balance + money_out >= 0)
)
