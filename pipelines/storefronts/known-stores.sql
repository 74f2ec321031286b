-- The listed products of each store, and the result of its last read.
with latest as (
  select store_id, max(read_at) filter (fetch_status <> 'failed') as fetched_at,
    arg_max(outcome, (read_at, run_id)) as outcome, arg_max(products_read, (read_at, run_id))::integer as products_read
  from ingest.store_read group by store_id
),
listing as (
  select store_id, count(*)::integer as listed from storefront.sighting where kind = 'product' and is_listed group by store_id
),
pricing as (
  select store_id, sum(greatest(len(variants), 1))::integer as items,
    sum(if(len(variants) = 0, 1, len(list_filter(variants, lambda variant: coalesce(variant.price, 0) = 0))))::integer as items_without_price
  from storefront.product
  where product_id in (select id from storefront.sighting where kind = 'product' and is_listed)
  group by store_id
)
select domain, kind, outcome, epoch_ms(fetched_at)::double as fetched_at, coalesce(listed, 0) as listed, products_read,
  coalesce(items, 0) as items, coalesce(items_without_price, 0) as items_without_price
from storefront.store
join latest using (store_id)
left join listing using (store_id)
left join pricing using (store_id)
