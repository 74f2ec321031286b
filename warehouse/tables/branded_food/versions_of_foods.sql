-- A product is a data source and a barcode. A label without a barcode is a separate product, together with the earlier
-- versions that it names.
with loaded as (
  select
    fdc_id,
    data_source,
    gtin_14,
    if(gtin_14 is null, fdc_id, null) as label_without_gtin,
    published_on,
    available_on,
    modified_on,
    true as is_loaded
  from branded_food.food
),
named as (
  select distinct on (earlier.fdc_id)
    earlier.fdc_id,
    data_source,
    gtin_14,
    if(gtin_14 is null, fdc_id, null) as label_without_gtin,
    -- the label that names it has replaced it, even if the dates contradict this
    if(published_on is null, null, least(earlier.published_on, published_on)) as published_on,
    null::date as available_on,
    null::date as modified_on,
    false as is_loaded
  from (select fdc_id, data_source, gtin_14, published_on, unnest(earlier_versions) as earlier from branded_food.food)
  where earlier.fdc_id not in (select fdc_id from branded_food.food)
  order by earlier.fdc_id, fdc_id desc
),
placed as (
  select
    *,
    row_number() over history as version,
    count(*) over (partition by data_source, gtin_14, label_without_gtin) as version_count,
    lead(fdc_id) over history is null and is_loaded as is_current,
    lead(fdc_id) over history as replaced_by
  from (from loaded union all from named)
  window history as (
    partition by data_source, gtin_14, label_without_gtin
    order by
      published_on nulls first, is_loaded, available_on nulls first, modified_on nulls first, fdc_id
  )
)
select
  fdc_id,
  data_source,
  gtin_14,
  version,
  version_count,
  is_current,
  is_current and gtin_14 is not null and row_number() over (
    partition by gtin_14, is_current
    order by published_on desc nulls last, available_on desc nulls last, modified_on desc nulls last, fdc_id desc
  ) = 1 as is_current_of_gtin,
  is_loaded,
  published_on,
  replaced_by
from placed
