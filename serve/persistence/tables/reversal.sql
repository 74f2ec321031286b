-- Refunds and disputes of payments, by the processor's id.
create table console.reversal (
  id text primary key,
  payment_id text not null,
  account_id text not null,
  kind text not null,
  cents integer not null,
  state text not null,
  is_lost boolean not null,
  changed_at text not null
)
