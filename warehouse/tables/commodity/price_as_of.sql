create or replace macro commodity.price_as_of(moment) as table
with asked as (
  select case
    when length(trim(moment::varchar)) <= 10 then moment::date + interval 1 day - interval 1 microsecond
    when regexp_full_match(moment::varchar, '\s*\S+[ T][0-9:.]+\s*') then moment::timestamp
    -- With a zone, and so not to be cast to a timestamp, which would ask for the zone of the session or drop the offset. The
    -- clocks of reports are four to six hours behind UTC.
    else make_timestamp(epoch_us(moment::timestamptz)) - interval 6 hours
  end as until
)
select metric_name, observed_on, value, value_text, published_at, is_final
from commodity.price_version, asked
where published_at <= until
  -- Rows without a stamp are a microsecond before the end of a day, where no stamp is. They were published when they were
  -- fetched at the latest, which is in UTC: no clock of a report is further on then than four hours behind.
  and (microsecond(published_at) % 1_000_000 <> 999_999 or fetched_at - interval 4 hours <= until)
qualify row_number() over (
  partition by metric_name, observed_on
  order by is_final desc, published_at desc, run_id desc, source_row desc
) = 1
;
comment on macro table commodity.price_as_of is
  'The value of each metric and day as it stood at a moment: what had been published by then, a final value before a provisional one, then the newest publication. A day includes all that was published on it. A time without a zone is compared with the report''s own clock. A time with a zone counts from six hours behind UTC, the latest that a report''s clock can be: never too early, up to two hours late. A value whose report states no time of publication is there from when it was fetched. The time zone of the session never matters.'
