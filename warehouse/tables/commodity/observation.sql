create or replace view commodity.observation as
with {{version}},
known as (from version),
{{current_value}}
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
  value::decimal(19, 6) as value, -- see wider-numbers.ts
  value_text,
  first_published_at,
  last_published_at,
  revision_status,
  distinct_values
from current_value
left join commodity.metric using (metric_name)
