create or replace view ingest.live_raw_file as
select raw_file.*
from ingest.raw_file
join (from ingest.run where rolled_back_by is null) run using (run_id)
qualify row_number() over (partition by raw_sha256, url, raw_file.feed order by recorded_in desc) = 1
