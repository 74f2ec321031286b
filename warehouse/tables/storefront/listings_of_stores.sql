-- Ids are ordered by their bytes, as DuckDB compares strings. Whole rows are sorted only once.
with placed as (
  select
    product_id,
    row_number() over (partition by store_id order by published_at desc nulls last, product_id)::integer as place
  from storefront.product
  where product_id in (select id from storefront.sighting where kind = 'product' and is_listed)
)
select
  store_id,
  place,
  product_id,
  title,
  handle,
  vendor,
  product_type,
  category,
  sub_category,
  tags,
  images[1].src as image_src,
  images[1].width as image_width,
  images[1].height as image_height,
  price_min,
  price_max,
  currency,
  len(variants)::integer as variant_count,
  published_at
from storefront.product join placed using (product_id)
order by store_id, place
