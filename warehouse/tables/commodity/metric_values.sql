with published as (
  select
    metric_name,
    min(observed_on) as first_observed_on,
    max(observed_on) as last_observed_on,
    max(published_at) as last_updated,
    count(distinct observed_on) as observations,
    count(*) as publications
  from commodity.observation_version
  group by metric_name
),
counted as (
  select
    metric_name,
    published.* exclude (metric_name),
    case
      when published.observations > 0 then null
      when count(published.observations) over (partition by feed) > 0
        then feed || ' was read, but the rows of this metric have no usable number in ' || measure || '.'
      else 'No usable number was read from ' || feed || '. If the last run left it out, `ingest.live_left_out` says why.'
    end as no_values_reason
  from commodity.metric
  left join published using (metric_name)
)
update commodity.metric
set
  first_observed_on = counted.first_observed_on,
  last_observed_on = counted.last_observed_on,
  last_updated = counted.last_updated,
  observations = coalesce(counted.observations, 0),
  publications = coalesce(counted.publications, 0),
  no_values_reason = counted.no_values_reason
from counted
where counted.metric_name = metric.metric_name
