create or replace view ingest.live_unknown_field as
select unknown_field.*
from ingest.unknown_field
join (from ingest.run where rolled_back_by is null) run using (run_id)
qualify row_number() over (
  partition by unknown_field.pipeline, unknown_field.feed, unknown_field.field order by recorded_in
) = 1
