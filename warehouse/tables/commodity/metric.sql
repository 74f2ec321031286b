create table if not exists commodity.metric (
  metric_name varchar not null,
  measure varchar not null,
  unit varchar not null,
  region varchar not null,
  market_level varchar not null,
  freight varchar not null,
  frequency varchar not null,
  source varchar not null,
  product_slug varchar not null,
  report varchar not null,
  feed varchar not null,
  licence varchar not null
)
