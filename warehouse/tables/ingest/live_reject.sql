create or replace view ingest.live_reject as
with reading as (
  select run_id, coalesce(rebuilt_in, recorded_in) as read_in from ingest.live_run
),
last_reading as (
  select raw_sha256, feed, run_id, read_in from ingest.live_raw_file join reading using (run_id)
)
select reject.*
from ingest.reject
join reading using (run_id)
where not exists (
  from last_reading later
  where later.raw_sha256 = reject.raw_sha256
    and (later.read_in > reading.read_in or (later.read_in = reading.read_in and later.run_id > reject.run_id))
    -- a release also owns its files
    and (later.feed = reject.feed or starts_with(reject.feed, later.feed || '/'))
)
