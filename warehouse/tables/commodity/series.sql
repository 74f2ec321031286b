create table if not exists commodity.series (
  slug varchar not null,
  metric_name varchar not null,
  commodity varchar not null,
  spec varchar,
  market varchar not null,
  unit varchar not null,
  position integer not null
)
