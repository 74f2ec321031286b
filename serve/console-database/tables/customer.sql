-- An account at the card processor, and its saved card as far as it may be shown. `card_since` is when the payment was begun
-- that the card came with, or when it was removed: what an older payment brings later is not saved.
create table console.customer (
  account_id text primary key,
  processor text not null,
  customer text not null,
  card text,
  card_brand text,
  card_last4 text,
  card_expires text,
  card_since text
)
