-- Every state of an account, a key or a payment. Rows are only added, by triggers: see `recording.ts`. `number` comes
-- from the sequence that numbers entries: together they form the chain of `ledger.head`, in the order of these numbers.
-- `body`: the row as it was written, byte for byte, because it is hashed; for a removed payment, its id and `removed`.
create table ledger.record (
  number bigint primary key default nextval('ledger.entry_sequence_seq'),
  kind text not null,
  body json not null
)
