create table if not exists ingest.data_set (
  pipeline varchar not null,
  schema_name varchar not null,
  title varchar not null,
  description varchar not null,
  origin varchar not null,
  is_sample boolean not null,
  licence varchar not null,
  attribution varchar not null,
  source_url varchar,
  newest_on date,
  generation varchar not null
)
