with member as (
  select collection_id, store_id, unnest(list_distinct(product_ids)) as product_id from storefront.collection
),
counted as (
  select collection_id, count(*)::integer as product_count
  from member semi join storefront.listing using (store_id, product_id)
  group by collection_id
)
select
  store_id,
  row_number() over (partition by store_id order by published_at desc nulls last, collection_id)::integer as place,
  collection_id,
  title,
  handle,
  description,
  image_src,
  image_width,
  image_height,
  coalesce(product_count, 0) as product_count,
  published_at,
  updated_at
from storefront.collection left join counted using (collection_id)
where collection_id in (select id from storefront.sighting where kind = 'collection' and is_listed)
order by store_id, place
