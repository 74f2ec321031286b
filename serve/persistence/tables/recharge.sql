-- Auto-recharge of an account. `running` is the payment of the running recharge, at most one per account. `off_reason`
-- is the reason why auto-recharge was switched off.
create table console.recharge (
  account_id text primary key,
  is_on boolean not null,
  cents integer not null,
  trigger_credits integer not null,
  off_reason text,
  running text,
  changed_at text not null
)
