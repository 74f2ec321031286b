-- Every state that an account, a key or a payment has had. Rows are only added, by triggers: see `recording.ts`. `number` is of
-- the sequence that numbers entries: together they make the chain that `ledger.head` names, in the order of these numbers.
-- `body`: the row as it was written, byte for byte, since it is hashed; of a payment that was removed its id and `removed`.
create table ledger.record (
  number bigint primary key default nextval('ledger.entry_sequence_seq'),
  kind text not null,
  body json not null
)
