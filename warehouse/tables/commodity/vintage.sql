create or replace view commodity.vintage as
with known as (
  select
    metric_name,
    observed_on,
    value,
    -- as in observation_as_of: a row without a publication time counts from its fetch
    case
      when microsecond(published_at) % 1_000_000 = 999_999 then greatest(published_at, fetched_at - interval 4 hours)
      else published_at
    end as known_at,
    row_number() over (
      partition by metric_name, observed_on
      order by revision_status is not distinct from 'final', published_at, run_id, source_row
    ) as rank
  from commodity.observation_version
),
best as (
  select * from known
  qualify rank = max(rank) over (partition by metric_name, observed_on order by known_at, rank)
),
days as (
  select metric_name, observed_on, known_at::date as day, arg_max(value, rank) as value
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
