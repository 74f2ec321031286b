create or replace view ingest.live_odd_value as
select odd_value.*
from ingest.odd_value
join ingest.live_run run using (run_id)
qualify row_number() over (
  partition by odd_value.pipeline, odd_value.feed, odd_value.kind, odd_value.field, odd_value.said
  order by coalesce(rebuilt_in, recorded_in), run_id
) = 1
