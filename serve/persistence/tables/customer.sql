-- An account's customer at the card processor, and the details of its saved card that may be shown. `card_since` is
-- when the payment that saved the card was created, or when the card was removed: an older payment does not
-- replace the card.
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
