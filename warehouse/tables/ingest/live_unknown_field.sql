create or replace view ingest.live_unknown_field as
select unknown_field.*
from ingest.unknown_field
join ingest.live_run run using (run_id)
qualify row_number() over (
  partition by unknown_field.pipeline, unknown_field.feed, unknown_field.field
  order by coalesce(rebuilt_in, recorded_in), run_id
) = 1
