create table if not exists storefront.listing (
  store_id varchar not null,
  place integer not null,
  product_id varchar not null,
  title varchar not null,
  handle varchar,
  vendor varchar,
  product_type varchar,
  category varchar not null,
  sub_category varchar not null,
  tags varchar[] not null,
  image struct(src varchar, width integer, height integer),
  price_min decimal(18, 4),
  price_max decimal(18, 4),
  currency varchar,
  variant_count integer not null,
  published_at timestamp
)
