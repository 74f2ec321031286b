create or replace macro commodity.price_as_of(moment) as table
with requested as (
  select case
    when length(trim(moment::varchar)) <= 10 then moment::date + interval 1 day - interval 1 microsecond
    when regexp_full_match(moment::varchar, '\s*\S+[ T][0-9:.]+\s*') then moment::timestamp
    -- A text with a zone is not cast to a timestamp: the cast would use the zone of the session, or drop the offset. The clocks of
    -- reports are four to six hours behind UTC.
    else make_timestamp(epoch_us(moment::timestamptz)) - interval 6 hours
  end as until
)
select metric_name, observed_on, value, value_text, published_at, is_final
from commodity.price_version, requested
where published_at <= until
  -- Rows without a publication time have the last microsecond of a day, which no report states. They were published no later than
  -- they were fetched. The time of the fetch is in UTC, and every report's clock is at least four hours behind UTC.
  and (microsecond(published_at) % 1_000_000 <> 999_999 or fetched_at - interval 4 hours <= until)
qualify row_number() over (
  partition by metric_name, observed_on
  order by is_final desc, published_at desc, run_id desc, source_row desc
) = 1
;
comment on macro table commodity.price_as_of is
  'The value of each metric and day as of a moment: of the values published by then, a final value takes precedence over a provisional one, then the newest publication counts. A day includes everything that was published on it. A time without a zone is compared with the report''s own clock. A time with a zone is compared as six hours behind UTC, the furthest that a report''s clock can be behind: values never appear too early, and at most two hours late. A value whose report states no time of publication appears from the time when it was fetched. The time zone of the session does not matter.'
