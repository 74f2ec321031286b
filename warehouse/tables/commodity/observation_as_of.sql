create or replace macro commodity.observation_as_of(moment) as table
with requested as (
  select case
    when moment is null then error('observation_as_of needs a day or a time, not null')::timestamp
    when length(trim(moment::varchar)) <= 10 then moment::date + interval 1 day - interval 1 microsecond
    when regexp_full_match(moment::varchar, '\s*\S+[ T][0-9:.]+\s*') then moment::timestamp
    -- A string with a time zone is not cast to a timestamp: the cast would use the zone of the session, or drop the offset.
    -- Reports use local times between UTC−6 and UTC−4.
    else make_timestamp(epoch_us(moment::timestamptz)) - interval 6 hours
  end as until
),
standing as (
  select observation_version.*
  from commodity.observation_version, requested
  where published_at <= until
    -- Rows without a publication time are stamped with the last microsecond of a day; no report publishes such a time. They
    -- were published no later than they were fetched. The time of the fetch is in UTC, and local times are at most UTC−4.
    and (microsecond(published_at) % 1_000_000 <> 999_999 or fetched_at - interval 4 hours <= until)
  window same_day as (partition by metric_name, observed_on)
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
  value::decimal(19, 6) as value,
  value_text,
  max(changed_at) over (partition by metric_name, observed_on) as first_published_at,
  published_at as last_published_at,
  revision_status
from changes
qualify row_number() over (
  partition by metric_name, observed_on
  order by published_at desc, run_id desc, source_row desc
) = 1
;
comment on macro table commodity.observation_as_of is
  'One row per metric and day: the value that was known at the given time. A final value takes precedence over a provisional one; among equals, the newest publication is used. A day includes everything that was published on it. A time without a zone is compared with the report''s local time. A time with a zone is converted to UTC−6, the westernmost zone of a report. So a value never appears too early, and at most two hours late. A value whose report states no time of publication appears once its report''s day has ended and it has been fetched. The time zone of the session does not matter.'
