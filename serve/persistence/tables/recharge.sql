-- Auto-recharge of an account. `running` is the payment of the running recharge, at most one per account. The ceilings
-- limit what recharges may request from the card per UTC day and month. `off_reason` is why auto-recharge was stopped.
-- `after_position` is the newest refund or adjustment in the account's ledger that the page showed when a person last
-- saved the settings: a later one can stop auto-recharge.
create table console.recharge (
  account_id text primary key,
  is_on boolean not null,
  cents integer not null,
  trigger_credits integer not null,
  daily_ceiling_cents integer not null,
  monthly_ceiling_cents integer not null,
  after_position integer not null,
  off_reason text,
  running text,
  changed_at text not null
)
