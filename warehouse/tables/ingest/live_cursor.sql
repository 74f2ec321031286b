create or replace view ingest.live_cursor as
select cursor.*
from ingest.cursor
join (from ingest.run where rolled_back_by is null) run using (run_id)
qualify row_number() over (partition by cursor.pipeline, cursor.feed order by recorded_in desc) = 1
