create table if not exists ingest.run (
  run_id varchar not null,
  pipeline varchar not null,
  origin varchar not null,
  outcome varchar not null,
  started_at timestamp not null,
  finished_at timestamp not null,
  generation varchar,
  window_from date,
  window_to date,
  rows_read bigint,
  rows_loaded bigint,
  rows_unchanged bigint,
  rows_rejected bigint,
  message varchar,
  recorded_in varchar not null,
  rebuilt_in varchar,
  rolled_back_by varchar
)
