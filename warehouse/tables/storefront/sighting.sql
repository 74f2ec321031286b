create table if not exists storefront.sighting (
  kind varchar not null,
  id varchar not null,
  store_id varchar not null,
  first_seen_at timestamp not null,
  listed_since timestamp not null,
  is_listed boolean not null,
  last_seen_at timestamp
)
