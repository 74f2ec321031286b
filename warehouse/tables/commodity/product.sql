create table if not exists commodity.product (
  slug varchar not null,
  category varchar not null,
  attributes json not null,
  details json not null
)
