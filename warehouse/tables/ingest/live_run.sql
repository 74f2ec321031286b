create or replace view ingest.live_run as
from ingest.run
where rolled_back_by is null and outcome in ('published', 'unchanged', 'partial')
