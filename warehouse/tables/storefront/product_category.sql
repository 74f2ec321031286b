create or replace view storefront.product_category as
select
  product_id,
  category,
  sub_category,
  category_method as method,
  category_confidence as confidence,
  category_evidence as evidence
from storefront.product
