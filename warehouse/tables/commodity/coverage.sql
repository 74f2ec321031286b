create or replace view commodity.coverage as
select
  metric_name,
  min(observed_on) as first_observed_on,
  max(observed_on) as last_observed_on,
  count(distinct observed_on) as observations,
  count(observed_on) as versions
from commodity.metric
left join commodity.observation_version using (metric_name)
group by metric_name
