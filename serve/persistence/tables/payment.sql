-- Payments by card. A row is written before the request to the processor, and is `open` until the outcome is known and the
-- credits are booked. `customer` and `card` are those of the request, so that it can be repeated. `asked_at` is when
-- a charge was last requested from the processor, or null.
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
