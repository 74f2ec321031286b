-- One row: how far the chain has been followed. `entries` and `records` count the links that it includes, `sequence` is
-- the number of the last link, and `hash` is the SHA-256 over the previous hash and that of the last link.
create table ledger.head (
  of text primary key check (of = 'ledger'),
  entries bigint not null,
  records bigint not null,
  sequence bigint not null,
  hash text not null
)
