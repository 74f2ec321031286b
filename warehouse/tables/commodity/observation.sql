create or replace view commodity.observation as
with standing as (
  select
    *,
    -- DuckDB 1.1 sometimes hangs in count(distinct value) over a window
    list_unique(list(value) over same_day)::bigint as distinct_values
  from commodity.observation_version
  window same_day as (partition by metric_name, observed_on)
  -- a provisional value that is printed again after a final one changes nothing
  qualify
    revision_status is not distinct from 'final'
    or coalesce(published_at < min(case when revision_status = 'final' then published_at end) over same_day, true)
),
changes as (
  select *, case when value is distinct from lag(value) over in_order then published_at end as changed_at
  from standing
  window in_order as (partition by metric_name, observed_on order by published_at, run_id, source_row)
)
select
  metric_name,
  observed_on,
  case frequency
    -- the weeks of surveys are Sunday to Saturday, all others Monday to Friday
    when 'weekly' then observed_on - if(isodow(observed_on) = 5, 4, 6)
    when 'biweekly' then observed_on - 13
    else observed_on
  end as period_start,
  case frequency
    when 'monthly' then last_day(observed_on)
    when 'annual' then make_date(year(observed_on), 12, 31)
    else observed_on
  end as period_end,
  -- DuckDB gives the product of two decimals of 18 digits no more digits: it would overflow from 6,950 on
  value::decimal(19, 6) as value,
  value_text,
  max(changed_at) over (partition by metric_name, observed_on) as first_published_at,
  published_at as last_published_at,
  revision_status,
  distinct_values
from changes
left join commodity.metric using (metric_name)
qualify row_number() over (
  partition by metric_name, observed_on
  order by published_at desc, run_id desc, source_row desc
) = 1
