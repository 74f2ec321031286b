-- Where the chain of an account begins, if its oldest entries were archived: the state after the last of them. Because
-- entry numbers have no gaps, only the oldest entries of the whole ledger can be archived. Nothing archives entries yet.
create table ledger.chain_start (
  account_id text primary key references account,
  position integer not null,
  balance integer not null,
  hash text not null
) strict
