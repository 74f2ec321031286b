-- Where the chain of an account begins, if its oldest entries were archived: the state after the last of them. Nothing
-- archives entries yet.
create table ledger.chain_start (
  account_id text primary key references ledger.account,
  position bigint not null,
  balance bigint not null,
  hash text not null
)
