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
)
select
  catalog_metric.*,
  first_observed_on,
  last_observed_on,
  last_updated,
  coalesce(observations, 0) as observations,
  coalesce(publications, 0) as publications,
  case
    when observations > 0 then null
    when count(observations) over (partition by feed) > 0
      then feed || ' was read, but the rows of this metric have no usable number in ' || measure || '.'
    else 'No usable number was read from ' || feed || '. If the last run left it out, `ingest.live_left_out` says why.'
  end as no_values_reason
from commodity.catalog_metric
left join published using (metric_name)
order by metric_name
