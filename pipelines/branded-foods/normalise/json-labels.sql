-- The labels of a chunk of the JSON release, with the columns that `labelsFrom` reads; json-labels.ts unpacks
-- `label_nutrients`. `chunk` is the chunk as read with `jsonRelation` of decode/json/keys.ts.
with food as (
  -- The parts of the amounts that are used, read once. Ids are doubles, which are exact here: parsing six million texts
  -- would take seconds.
  select * replace (list_transform(foodNutrients, lambda amount: {
    'id': try_cast(amount.id as bigint),
    'nutrient_id': nutrient_id_of(
      if(amount.nutrient.id >= 0 and amount.nutrient.id = floor(amount.nutrient.id), amount.nutrient.id, null)
    )::integer,
    'amount': try_cast(amount.amount as decimal(18, 6)),
    'unreadable': if(amount.amount <> '' and try_cast(amount.amount as decimal(18, 6)) is null, true, null),
    'derivation_id': derivation_id_of(amount.foodNutrientDerivation.code)
  }) as foodNutrients)
  from chunk
)
select
  line,
  whole(fdcId, try_cast(fdcId as integer)) as fdc_id,
  description,
  shortDescription as short_description,
  brandOwner as brand_owner,
  brandName as brand_name,
  subbrandName as subbrand_name,
  brandedFoodCategory as category,
  null::varchar as food_category,
  gpcClassCode as gpc_class_code,
  gtinUpc as upc,
  packageWeight as package_weight,
  servingSize as serving_size,
  servingSizeUnit as serving_size_unit,
  householdServingFullText as household_serving_text,
  preparationStateCode as preparation_state_code,
  marketCountry as market_country,
  tradeChannels as trade_channels,
  ingredients,
  list_transform(
    list_sort(list_transform(foodNutrients, lambda amount: {
      'place': place_of(amount.nutrient_id, ranks[amount.derivation_id], amount.id),
      'amount': amount.amount,
      'derivation_id': amount.derivation_id
    })),
    lambda row: {
      'nutrient_id': (row.place >> 44)::integer,
      'amount': row.amount,
      'derivation_id': row.derivation_id
    }
  ) as nutrients,
  list_transform(
    list_sort(list_transform(foodAttributes, lambda remark:
      {'added': try_cast(remark.id as bigint), 'name': tidied(remark.name), 'value': tidied(remark.value)})),
    lambda row: {'name': row.name, 'value': row.value}
  ) as attributes,
  caffeineStatement as caffeine_statement,
  footnote,
  dataSource as data_source,
  publicationDate as published_on,
  availableDate as available_on,
  modifiedDate as modified_on,
  discontinuedDate as discontinued_on,
  labelNutrients as label_nutrients,
  null as daily_values,
  null::varchar as not_a_significant_source_of,
  materialCode as material_code,
  list_filter(
    list_transform(foodUpdateLog, lambda earlier: {
      'fdc_id': whole(earlier.fdcId, try_cast(earlier.fdcId as integer)),
      'published_on': plausible(day_of(earlier.publicationDate))
    }),
    lambda earlier: earlier.fdc_id is distinct from try_cast(fdcId as integer) and earlier.fdc_id is not null
  ) as earlier_versions,
  1 as source_rows,
  true as has_label_row,
  nullif(concat_ws('; ',
    if(
      whole(fdcId, try_cast(fdcId as integer)) is null,
      'fdcId is ' || coalesce('"' || left(fdcId, 60) || '", which is not a whole number', 'missing'),
      null
    ),
    if(
      list_count(list_transform(foodNutrients, lambda amount: amount.nutrient_id)) < len(foodNutrients),
      'one of foodNutrients has no nutrient id, or one that is not a whole number',
      null
    ),
    if(
      list_count(list_transform(foodNutrients, lambda amount: amount.unreadable)) > 0,
      'one of foodNutrients has an amount that is not a number',
      null
    )
  ), '') as other_problem
from food, (from release.derivation_rank)
