create or replace view commodity.vintage as
with {{version}},
best as (
  from version
  qualify precedence = max(precedence) over (partition by metric_name, observed_on order by known_at, precedence)
),
days as (
  select metric_name, observed_on, known_at::date as day, arg_max(value, precedence) as value
  from best
  group by all
),
changes as (
  select * from days
  qualify value is distinct from lag(value) over (partition by metric_name, observed_on order by day)
)
select
  metric_name,
  observed_on,
  value::decimal(19, 6) as value,
  day as realtime_start,
  coalesce(lead(day) over (partition by metric_name, observed_on order by day) - 1, date '9999-12-31') as realtime_end
from changes
