create or replace view storefront.collection_product as
select
  collection_id,
  unnest(product_ids) as product_id,
  generate_subscripts(product_ids, 1)::integer as position
from storefront.collection
