create table if not exists storefront.variant_change (
  variant_id varchar not null,
  product_id varchar not null,
  store_id varchar not null,
  seen_at timestamp not null,
  change varchar not null,
  price decimal(18, 4),
  compare_at_price decimal(18, 4),
  currency varchar,
  available boolean
)
