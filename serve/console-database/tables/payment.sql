-- Payments by card. Written before the processor is asked: `open` until its outcome is known and its credits are booked.
-- `customer` and `card` are those it was asked with, so that the same question can be asked again; `asked_at` is when it
-- was last asked to charge, null where it never was.
create table console.payment (
  id text primary key,
  account_id text not null,
  kind text not null,
  cents integer not null,
  state text not null,
  processor text not null,
  reference text,
  customer text,
  card text,
  problem text,
  card_brand text,
  card_last4 text,
  created_by text,
  created_at text not null,
  asked_at text,
  settled_at text
)
