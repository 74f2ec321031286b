create table if not exists storefront.collection (
  collection_id varchar not null,
  store_id varchar not null,
  native_id varchar not null,
  title varchar not null,
  handle varchar,
  description varchar,
  image_src varchar,
  image_width integer,
  image_height integer,
  published_at timestamp,
  updated_at timestamp,
  product_ids varchar[] not null,
  fetched_at timestamp not null,
  run_id varchar not null,
  raw_sha256 varchar not null
)
