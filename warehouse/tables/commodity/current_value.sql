standing as (
  select
    *,
    -- DuckDB 1.1 sometimes hangs in count(distinct value) over a window
    list_unique(list(value) over same_day)::bigint as distinct_values
  from known
  window same_day as (partition by metric_name, observed_on)
  -- a provisional value that is printed again after a final one changes nothing
  qualify is_final or coalesce(published_at < min(case when is_final then published_at end) over same_day, true)
),
changes as (
  select *, case when value is distinct from lag(value) over in_order then published_at end as changed_at
  from standing
  window in_order as (partition by metric_name, observed_on order by precedence)
),
current_value as (
  select *, max(changed_at) over same_day as first_published_at, published_at as last_published_at
  from changes
  window same_day as (partition by metric_name, observed_on)
  qualify precedence = max(precedence) over same_day
)
