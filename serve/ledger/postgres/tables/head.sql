-- One row: how far the chain has been followed. `entries` and `records` count what is in it, `sequence` is the number of the
-- last of them, and `hash` is the SHA-256 over the hash before it and that of the last one.
create table ledger.head (
  of text primary key check (of = 'ledger'),
  entries bigint not null,
  records bigint not null,
  sequence bigint not null,
  hash text not null
)
