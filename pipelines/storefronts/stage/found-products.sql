-- The products and prices that each store has among the staged rows.
with stated as (
  select domain, native_id, arg_min(is_published, seq) as is_published from feed.product group by all
),
priced as (
  select domain, product_native_id as native_id, count(*) as items,
    count(*) filter (where price is null or price = 0) as items_without_price
  from feed.variant group by all
),
rejected_only as (
  select domain, count(distinct native_id) + count(*) filter (native_id is null) as rejected,
    count(distinct known.native_id) as rejected_known
  from (
    select domain, native_id from feed.rejected where kind = 'product'
    union all
    select domain, product_native_id from feed.row_count -- without a row that has a title
  )
  anti join stated using (domain, native_id) left join feed.known known using (domain, native_id)
  group by domain
)
select domain, count(*)::integer as products, coalesce(any_value(rejected), 0)::integer as rejected,
  (count(known.native_id) + coalesce(any_value(rejected_known), 0))::integer as already_known,
  (sum(coalesce(items, 1)) + coalesce(any_value(rejected), 0))::integer as items,
  sum(coalesce(items_without_price, 1))::integer as items_without_price
from stated left join priced using (domain, native_id) left join feed.known known using (domain, native_id)
  left join rejected_only using (domain)
where is_published
group by domain
