create or replace view commodity.observation as
select
  metric_name,
  observed_on,
  value,
  value_text,
  published_at,
  is_final,
  -- DuckDB 1.1 sometimes hangs in count(distinct value) over a window
  list_unique(list(value) over same_day)::bigint as versions
from commodity.observation_version
window same_day as (partition by metric_name, observed_on)
qualify row_number() over (
  partition by metric_name, observed_on
  order by is_final desc, published_at desc, run_id desc, source_row desc
) = 1
