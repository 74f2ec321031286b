create or replace macro commodity.{{name}}(metric) as table
with asked as (
  select
    aggregation,
    case
      when frequency is null then error('{{name}}: no metric is called ' || coalesce(metric, 'null'))
      when frequency in ({{longer}})
        then error('{{name}}: ' || metric || ' is ' || frequency || ', and cannot be divided into {{period}}s')
      else metric
    end as metric_name
  from (values (true))
  left join (select frequency, aggregation from commodity.metric as listed where metric_name = metric) on true
)
select
  date_trunc('{{period}}', period_end)::date as {{period}},
  (case aggregation when 'sum' then sum(value) else avg(value) end)::decimal(19, 6) as value,
  count(observed_on) as observations
from asked
-- a left join, so that its error is not skipped where there is no observation
left join (from commodity.observation where metric_name = metric) using (metric_name)
group by {{period}}, aggregation
having observations > 0
