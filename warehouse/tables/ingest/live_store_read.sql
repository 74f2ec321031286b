create or replace view ingest.live_store_read as
from ingest.store_read
semi join ingest.live_run using (run_id)
