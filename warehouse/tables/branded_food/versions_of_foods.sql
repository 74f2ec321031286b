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
  select
    fdc_id,
    newest.data_source,
    newest.gtin_14,
    newest.label_without_gtin,
    newest.published_on,
    null::date as available_on,
    null::date as modified_on,
    false as is_loaded
  from (
    select
      earlier.fdc_id,
      -- `distinct on` would sort all of them
      arg_max({
        'data_source': data_source,
        'gtin_14': gtin_14,
        'label_without_gtin': if(gtin_14 is null, fdc_id, null),
        -- the label that names it has replaced it, even if the dates contradict this
        'published_on': if(published_on is null, null, least(earlier.published_on, published_on))
      }, fdc_id) as newest
    from (select fdc_id, data_source, gtin_14, published_on, unnest(earlier_versions) as earlier from branded_food.food)
    where earlier.fdc_id not in (select fdc_id from branded_food.food)
    group by earlier.fdc_id
  )
),
placed as (
  select
    *,
    row_number() over history as version,
    -- over the whole partition; a window without an order would be another sort
    count(*) over (history rows between unbounded preceding and unbounded following) as version_count,
    lead(fdc_id) over history as replaced_by,
    replaced_by is null and is_loaded as is_current
  from (from loaded union all from named)
  window history as (
    partition by data_source, gtin_14, label_without_gtin
    order by
      published_on nulls first, is_loaded, available_on nulls first, modified_on nulls first, fdc_id
  )
),
current_of_gtin as (
  select fdc_id
  from placed
  where is_current and gtin_14 is not null
  qualify row_number() over (
    partition by gtin_14
    order by published_on desc nulls last, available_on desc nulls last, modified_on desc nulls last, fdc_id desc
  ) = 1
)
select
  fdc_id,
  data_source,
  gtin_14,
  version,
  version_count,
  is_current,
  fdc_id in (from current_of_gtin) as is_current_of_gtin,
  is_loaded,
  published_on,
  replaced_by
from placed
