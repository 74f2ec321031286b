-- Assembles the collections. Reads the variable `run_id`.
insert into storefront.collection by name
with member as (
  select m.domain, m.collection_native_id as native_id, m.product_native_id, min(m.position) as place, min(m.seq) as seq
  from feed.member m
  semi join (
    select domain, native_id from feed.first_product where is_published
    union all
    select domain, native_id from feed.rejected where kind = 'product'
  ) p on p.domain = m.domain and p.native_id = m.product_native_id
  group by all
),
listed as (
  select domain, native_id,
    list_sort(list({'place': place, 'seq': seq, 'id': id_of('product', domain, product_native_id)})) as members
  from member group by all
)
select
  id_of('collection', domain, native_id) as collection_id,
  id_of('store', domain, '') as store_id,
  native_id, title, handle, description,
  image.src as image_src, image.width as image_width, image.height as image_height, published_at, updated_at,
  list_transform(coalesce(members, []), lambda member: member.id) as product_ids,
  fetched_at, getvariable('run_id') as run_id, raw_sha256
from feed.collection semi join feed.first_collection using (domain, native_id, seq)
left join listed using (domain, native_id);

-- A product or collection in a rejected row is still listed: it keeps its known data, if there is any.
insert into storefront.sighting by name
with rejected as (
  select distinct domain, kind, id_of(kind, domain, native_id) as id from feed.rejected where native_id is not null
)
select rejected.kind, id, store.store_id, read_at as first_seen_at, read_at as listed_since, true as is_listed
from rejected
join storefront.store store using (domain)
join ingest.store_read read using (store_id)
where id not in (
  select product_id from storefront.product union all select collection_id from storefront.collection
);
