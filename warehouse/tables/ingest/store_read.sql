create table if not exists ingest.store_read (
  run_id varchar not null,
  store_id varchar not null,
  read_at timestamp not null,
  fetch_status varchar not null,
  outcome varchar not null,
  outcome_detail varchar,
  pages_read integer not null,
  products_read integer not null,
  has_all_products boolean not null,
  is_taken boolean not null,
  collections_read integer not null,
  currency varchar,
  seconds double not null,
  feed varchar not null,
  sale_changes_at timestamp,
  due_from timestamp,
  due_by timestamp
)
