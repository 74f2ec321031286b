create table if not exists storefront.collection_listing (
  store_id varchar not null,
  place integer not null,
  collection_id varchar not null,
  title varchar not null,
  handle varchar,
  description varchar,
  image_src varchar,
  image_width integer,
  image_height integer,
  product_count integer not null,
  published_at timestamp,
  updated_at timestamp
)
