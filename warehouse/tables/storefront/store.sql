create table if not exists storefront.store (
  store_id varchar not null,
  domain varchar not null,
  name varchar not null,
  kind varchar not null,
  url varchar not null,
  description varchar,
  country varchar,
  currency varchar,
  language varchar,
  city varchar,
  province varchar,
  platform_shop_id varchar,
  myshopify_domain varchar,
  reported_product_count integer,
  first_seen_at timestamp not null,
  run_id varchar not null
)
