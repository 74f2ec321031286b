create or replace macro storefront.variant_as_of(moment) as table
with requested as (
  select case
    when moment is null then error('variant_as_of needs a day or a time, not null')::timestamp
    when length(trim(moment::varchar)) <= 10 then moment::date + interval 1 day - interval 1 microsecond
    when regexp_full_match(moment::varchar, '\s*\S+[ T][0-9:.]+\s*') then moment::timestamp
    else make_timestamp(epoch_us(moment::timestamptz))
  end as until
)
select
  variant_id,
  product_id,
  store_id,
  price::decimal(19, 4) as price, -- see wider-numbers.ts
  compare_at_price::decimal(19, 4) as compare_at_price,
  currency,
  available,
  seen_at
from storefront.variant_change, requested
where seen_at <= until
qualify row_number() over (partition by variant_id order by seen_at desc) = 1 and change <> 'gone'
;
comment on macro table storefront.variant_as_of is
  'One row per variant that was listed at the given time, as the reads until then had found it: its price, the price before a reduction, the currency and the availability, and when they were first seen (`seen_at`). A day includes all reads of that day in UTC. A time without a zone is UTC. The time zone of the session does not matter.'
