-- Every movement of credits. Rows are only added.
create table ledger.entry (
  sequence integer primary key, -- number in the ledger, from 1 without gaps
  account_id text not null,
  position integer not null, -- place in the account, from 1 without gaps
  type text not null, -- grant, charge, top_up, auto_recharge, refund, adjustment
  occurred_at text not null, -- of a charge: when the call was admitted
  key_id text,
  endpoint text,
  credits integer not null, -- added to the balance; negative for charges, refunds and disputes of payments, and debits by hand
  balance integer not null, -- of the account after the entry
  budget_credits integer, -- of a charge: the key's monthly budget when the call was admitted
  request_id text, -- of a call, the id of a payment, refund or dispute, or the reference of a credit or debit by hand
  note text,
  hash text not null -- SHA-256 over the hash of the account's previous entry and the fields of this one except sequence
) strict;
-- All entries except charges: a statement without charges does not scan millions of charges.
create index ledger.entry_but_charge on entry (account_id, position) where type <> 'charge'
