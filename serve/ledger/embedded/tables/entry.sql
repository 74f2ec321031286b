-- Every movement of credits. Rows are only added.
create table ledger.entry (
  sequence integer primary key, -- number in the ledger, from 1 without gaps
  account_id text not null,
  position integer not null, -- place in the account, from 1 without gaps
  type text not null, -- grant, charge, top_up, auto_recharge, refund, adjustment
  occurred_at text not null, -- of a charge: when the call was admitted
  key_id text,
  endpoint text,
  credits integer not null, -- added to the balance; negative for charges, money that went out and credits that expired
  balance integer not null, -- of the account after the entry
  budget_credits integer, -- of a charge: the key's monthly budget when the call was admitted
  daily_budget_credits integer, -- the same of its daily budget; null where it had none
  weekly_budget_credits integer, -- the same of its weekly budget
  request_id text, -- of a call, or the id of a payment, refund or dispute
  note text,
  expires_at text, -- when its credits end, as far as they are not spent; null where they do not end
  grants text, -- what it takes from credits that expire or gives back to them: position:credits of the entries that granted them
  hash text not null -- SHA-256 over the hash of the account's entry before this one and the fields of this one
) strict;
-- Payments and the like: a statement without charges does not pass over millions of them.
create index ledger.entry_but_charge on entry (account_id, position) where type <> 'charge'
