create or replace view ingest.live_raw_file as
select raw_file.*
from ingest.raw_file
join ingest.live_run run using (run_id)
qualify row_number() over (
  partition by raw_sha256, url, raw_file.feed order by coalesce(rebuilt_in, recorded_in) desc, run_id desc
) = 1
