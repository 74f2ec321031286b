-- The last read of each store. `$mapping` is the hash of the current mapping. A row that is read again without a change keeps
-- its `run_id`.
with latest as (
  select store_id, max(read_at) as read_at, arg_max(run_id, read_at) as run_id, arg_max(fetch_status, read_at) as fetch_status,
    arg_max(run_id, read_at) filter (fetch_status <> 'failed') as last_successful_run_id,
    arg_max_null(sale_changes_at, read_at) filter (fetch_status <> 'failed') as sale_changes_at
  from ingest.store_read group by store_id
),
other_status as (
  select store_id, max(r.read_at) as read_at
  from ingest.store_read r join latest using (store_id)
  where r.fetch_status <> latest.fetch_status group by store_id
),
streak as (
  select store_id, min(r.read_at) as began_at
  from ingest.store_read r left join other_status using (store_id)
  where other_status.read_at is null or r.read_at > other_status.read_at group by store_id
),
change as (
  select store_id, max(seen_at) as seen_at
  from (
    select store_id, max(seen_at) as seen_at from storefront.variant_change group by store_id
    union all
    select store_id, max(read_at)
    from (select store_id, run_id from storefront.product union select store_id, run_id from storefront.collection)
    join ingest.store_read using (store_id, run_id) group by store_id
  )
  group by store_id
)
select domain, kind, latest.run_id, latest.fetch_status, last_successful_run_id,
  epoch_ms(coalesce(run.started_at, latest.read_at))::double as run_started_at,
  epoch_ms(latest.read_at)::double as read_at,
  epoch_ms(greatest(began_at, seen_at))::double as unchanged_since,
  epoch_ms(if(sale_changes_at > latest.read_at, sale_changes_at, null))::double as sale_changes_at,
  latest.fetch_status = 'failed' or 'store/' || domain in (
    select feed from ingest.raw_file where pipeline = 'storefronts' and mapping_sha256 = $mapping
  ) as has_current_mapping
from storefront.store
join latest using (store_id)
join streak using (store_id)
left join change using (store_id)
left join ingest.run run on run.run_id = latest.run_id
