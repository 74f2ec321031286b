create or replace view storefront.store_status as
select
  store_id,
  fetch_status,
  outcome,
  outcome_detail,
  read_at,
  max(read_at) filter (fetch_status <> 'failed') over (partition by store_id) as fetched_at,
  run_id
from ingest.live_store_read
semi join storefront.store using (store_id)
qualify row_number() over (partition by store_id order by read_at desc, run_id desc) = 1
