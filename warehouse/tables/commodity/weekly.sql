create or replace macro commodity.weekly(metric) as table
with asked as (
  select
    unit,
    case
      when frequency is null then error('weekly: no metric is called ' || coalesce(metric, 'null'))
      when frequency not in ('daily', 'weekly')
        then error('weekly: ' || metric || ' is ' || frequency || ', and cannot be divided into weeks')
      else metric
    end as metric_name
  from (values (true))
  left join (select frequency, unit from commodity.metric as listed where metric_name = metric) on true
)
select
  date_trunc('week', period_end)::date as week,
  (case when unit in ('lb', 'count') then sum(value) else avg(value) end)::decimal(19, 6) as value,
  count(observed_on) as observations
from asked
-- a left join, so that its error is not skipped where there is no observation
left join (from commodity.observation where metric_name = metric) using (metric_name)
group by week, unit
having observations > 0
;
comment on macro table commodity.weekly is
  'One row per week of a daily or weekly metric: the unweighted mean of its prices or percentages, or the sum of its pounds or counts, and the number of observations, which shows whether the newest week is complete. `week` is the Monday of the ISO week that contains the end of the period, so a week of a survey (ending on Saturday) and one of an exchange (ending on Friday) can be joined. A metric of longer periods is an error.'
