create or replace view ingest.live_store_read as
from ingest.store_read
semi join (from ingest.run where rolled_back_by is null) using (run_id)
