create or replace view ingest.live_reject as
with last_reading as (
  select raw_sha256, feed, recorded_in from ingest.live_raw_file join ingest.run using (run_id)
)
select reject.*
from ingest.reject
join (from ingest.run where rolled_back_by is null) run using (run_id)
where not exists (
  from last_reading later
  where later.raw_sha256 = reject.raw_sha256 and later.recorded_in > run.recorded_in
    -- a release has its files
    and (later.feed = reject.feed or starts_with(reject.feed, later.feed || '/'))
)
