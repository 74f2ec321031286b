create or replace view storefront.variant as
select
  variant.variant_id,
  product_id,
  store_id,
  variant.native_id,
  variant.title,
  variant.sku,
  variant.barcode,
  variant.price::decimal(19, 4) as price, -- see wider-numbers.ts
  variant.compare_at_price::decimal(19, 4) as compare_at_price,
  variant.currency,
  variant.grams,
  variant.available,
  variant.option1,
  variant.option2,
  variant.option3,
  variant.position,
  variant.image_src,
  variant.requires_shipping
from (select product_id, store_id, unnest(variants) as variant from storefront.product)
