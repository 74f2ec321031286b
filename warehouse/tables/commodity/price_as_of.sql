create or replace macro commodity.price_as_of(moment) as table
select metric_name, observed_on, value, value_text, published_at, is_final
from commodity.price_version
where published_at <= moment::timestamp
qualify row_number() over (
  partition by metric_name, observed_on
  order by is_final desc, published_at desc, run_id desc, source_row desc
) = 1
;
comment on macro table commodity.price_as_of is
  'The value of each metric and day as it stood at a moment: what had been published by then, a final value before a provisional one, then the newest publication.'
