-- Assembles the products of one part of `feed.part`. Variables: `run_id`; `part`; `first` and `last`, the smallest and the
-- largest `seq` of the part.
insert into storefront.product by name
with part_products as (
  select domain, native_id, seq, coalesce(counted.rows, 1) as source_rows
  from feed.part left join feed.source_rows counted using (domain, native_id)
  where part = getvariable('part')
),
product_rows as (
  select * from feed.product join (select seq, source_rows from part_products) using (seq) where seq between getvariable('first') and getvariable('last')
),
priced as (
  -- a price of 0 counts as missing if another variant has a price
  select v.*, if(price = 0 and max(price) over (partition by domain, product_native_id) > 0, null, price) as usable_price,
    coalesce(v.currency, store.currency) as effective_currency
  from feed.variant v
  semi join feed.first_variant using (seq)
  semi join (select domain, native_id as product_native_id from part_products) using (domain, product_native_id)
  join feed.store using (domain)
  where seq between getvariable('first') and getvariable('last')
),
variant as (
  select domain, product_native_id as native_id,
    list_sort(list({
      'source_position': position, 'seq': seq,
      'variant_id': id_of('variant', domain, product_native_id || chr(10) || native_id), 'native_id': native_id,
      'title': title, 'sku': sku, 'barcode': barcode, 'price': usable_price,
      'compare_at_price': if(compare_at_price > usable_price, compare_at_price, null), 'currency': effective_currency,
      'grams': grams, 'available': available, 'option1': option1, 'option2': option2, 'option3': option3,
      'image_src': image_src, 'requires_shipping': requires_shipping
    })) as variants,
    coalesce(arg_min(effective_currency, (position, seq)) filter (where usable_price is not null), min(effective_currency)) as currency
  from priced group by all
),
product_images as (
  select domain, product_native_id as native_id,
    list_sort(list({'source_position': source_position, 'seq': seq, 'src': src, 'width': width, 'height': height})) as images
  from (
    select domain, product_native_id, src, min(position) as source_position, min(seq) as seq,
      any_value(width) as width, any_value(height) as height
    from feed.image
    semi join (select domain, native_id as product_native_id from part_products) using (domain, product_native_id)
    where seq between getvariable('first') and getvariable('last')
    group by all
  )
  group by all
)
select
  id_of('product', domain, native_id) as product_id,
  id_of('store', domain, '') as store_id,
  native_id, product_rows.title, handle, vendor, product_type,
  category, sub_category, category_method, category_confidence, category_evidence,
  tags, body_text,
  list_transform(coalesce(images, []), lambda image: {'src': image.src, 'width': image.width, 'height': image.height}) as images,
  coalesce(price_range.min, list_min(list_transform(list_filter(variants, lambda v: v.currency is not distinct from variant.currency), lambda v: v.price))) as price_min,
  coalesce(price_range.max, list_max(list_transform(list_filter(variants, lambda v: v.currency is not distinct from variant.currency), lambda v: v.price))) as price_max,
  coalesce(variant.currency, store.currency) as currency,
  list_transform(coalesce(variants, []), lambda v, i: {
    'variant_id': v.variant_id, 'native_id': v.native_id, 'title': v.title, 'sku': v.sku, 'barcode': v.barcode,
    'price': v.price, 'compare_at_price': v.compare_at_price, 'currency': v.currency, 'grams': v.grams,
    'available': v.available, 'option1': v.option1, 'option2': v.option2, 'option3': v.option3, 'position': i::integer,
    'image_src': v.image_src, 'requires_shipping': v.requires_shipping
  }) as variants,
  is_merchandise and not coalesce(list_bool_and(list_transform(variants, lambda v: not v.requires_shipping)), false) as is_merchandise,
  published_at, created_at,
  source_rows,
  fetched_at, getvariable('run_id') as run_id, raw_sha256
from product_rows
join feed.store store using (domain)
left join variant using (domain, native_id)
left join product_images using (domain, native_id)
join feed.category using (seq)
