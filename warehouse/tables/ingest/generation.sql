create table if not exists ingest.generation (
  generation varchar not null,
  made_at timestamp not null,
  made_by varchar not null,
  kind varchar not null,
  pipeline varchar,
  run_id varchar,
  went_back_to varchar,
  note varchar,
  rolled_back_by varchar
)
