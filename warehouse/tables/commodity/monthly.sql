create or replace macro commodity.monthly(metric) as table
with asked as (
  select
    unit,
    case
      when frequency is null then error('monthly: no metric is called ' || coalesce(metric, 'null'))
      when frequency = 'annual'
        then error('monthly: ' || metric || ' is ' || frequency || ', and cannot be divided into months')
      else metric
    end as metric_name
  from (values (true))
  left join (select frequency, unit from commodity.metric as listed where metric_name = metric) on true
)
select
  date_trunc('month', period_end)::date as month,
  (case when unit in ('lb', 'count') then sum(value) else avg(value) end)::decimal(19, 6) as value,
  count(observed_on) as observations
from asked
-- a left join, so that its error is not skipped where there is no observation
left join (from commodity.observation where metric_name = metric) using (metric_name)
group by month, unit
having observations > 0
;
comment on macro table commodity.monthly is
  'One row per month of a metric that is not annual: the unweighted mean of its prices or percentages, or the sum of its pounds or counts, and the number of observations. `month` is the first day of the month that contains the end of the period: a week belongs to the month in which it ends. Where a report has a monthly average of its own, such as `butter_survey_average_monthly`, this is another number: that one may be weighted, and count a week to another month.'
