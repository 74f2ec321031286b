-- versions_of_foods.sql fills this table, and sets the flags
create table if not exists branded_food.version (
  fdc_id integer not null,
  data_source varchar,
  gtin_14 varchar,
  version integer not null,
  version_count integer not null,
  is_current boolean not null,
  is_current_of_gtin boolean not null,
  is_loaded boolean not null,
  published_on date,
  replaced_by integer
)
