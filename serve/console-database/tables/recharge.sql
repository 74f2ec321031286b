-- Auto-recharge of an account. `running` is the payment that is under way: one at a time. `off_reason` says why it was switched off.
create table console.recharge (
  account_id text primary key,
  is_on boolean not null,
  cents integer not null,
  trigger_credits integer not null,
  off_reason text,
  running text,
  changed_at text not null
)
