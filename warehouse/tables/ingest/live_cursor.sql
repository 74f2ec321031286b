create or replace view ingest.live_cursor as
select cursor.*
from ingest.cursor
join ingest.live_run run using (run_id)
qualify row_number() over (
  partition by cursor.pipeline, cursor.feed order by coalesce(rebuilt_in, recorded_in) desc, run_id desc
) = 1
