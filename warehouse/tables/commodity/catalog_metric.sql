create table if not exists commodity.catalog_metric (
  metric_name varchar not null,
  title varchar not null,
  notes varchar,
  measure varchar not null,
  unit varchar not null,
  unit_text varchar not null,
  region varchar not null,
  market_level varchar not null,
  freight varchar not null,
  frequency varchar not null,
  frequency_text varchar not null,
  seasonal_adjustment varchar not null,
  source varchar not null,
  product_slug varchar not null,
  report varchar not null,
  feed varchar not null,
  licence varchar not null
)
