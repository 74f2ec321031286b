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
{{version}},
known as (select version.* from version, requested where known_at <= until),
{{current_value}}
select
  metric_name,
  observed_on,
  value::decimal(19, 6) as value,
  value_text,
  first_published_at,
  last_published_at,
  revision_status
from current_value
;
comment on macro table commodity.observation_as_of is
  'One row per metric and day: the value that was known at the given time. A final value takes precedence over a provisional one; among equals, the newest publication is used. A day includes everything that was published on it. A time without a zone is compared with the report''s local time. A time with a zone is converted to UTC−6, the westernmost zone of a report. So a value never appears too early, and at most two hours late. A value whose report states no time of publication appears once its report''s day has ended and it has been fetched. The time zone of the session does not matter.'
