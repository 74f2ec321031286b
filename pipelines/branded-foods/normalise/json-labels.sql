-- The labels of a chunk of the JSON release, with the columns that `labelsFrom` reads. `chunk` is the chunk as read with
-- `relationOf` of decode/json/keys.ts.
with food as (
  -- The parts of the amounts that are used, read once. Ids are doubles, which hold them exactly: six million texts would
  -- take seconds.
  select * replace (list_transform(foodNutrients, lambda stated: {
    'id': try_cast(stated.id as bigint),
    'nutrient_id': nutrient_id_of(
      if(stated.nutrient.id >= 0 and stated.nutrient.id = floor(stated.nutrient.id), stated.nutrient.id, null)
    )::integer,
    'amount': try_cast(stated.amount as decimal(18, 6)),
    'unreadable': if(stated.amount <> '' and try_cast(stated.amount as decimal(18, 6)) is null, true, null),
    'derivation_id': derivation_id_of(stated.foodNutrientDerivation.code)
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
  gtinUpc as gtin_upc,
  packageWeight as package_weight,
  servingSize as serving_size,
  servingSizeUnit as serving_size_unit,
  householdServingFullText as household,
  preparationStateCode as preparation_state_code,
  marketCountry as market_country,
  tradeChannels as trade_channels,
  ingredients,
  list_transform(
    list_sort(list_transform(foodNutrients, lambda stated: {
      'place': place_of(stated.nutrient_id, ranks[stated.derivation_id], stated.id),
      'amount': stated.amount,
      'derivation_id': stated.derivation_id
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
  try_cast(labelNutrients.calories.value as decimal(18, 6)) as label_calories,
  try_cast(labelNutrients.fat.value as decimal(18, 6)) as label_fat,
  try_cast(labelNutrients.saturatedFat.value as decimal(18, 6)) as label_saturated_fat,
  try_cast(labelNutrients.transFat.value as decimal(18, 6)) as label_trans_fat,
  try_cast(labelNutrients.cholesterol.value as decimal(18, 6)) as label_cholesterol,
  try_cast(labelNutrients.sodium.value as decimal(18, 6)) as label_sodium,
  try_cast(labelNutrients.carbohydrates.value as decimal(18, 6)) as label_carbohydrates,
  try_cast(labelNutrients.fiber.value as decimal(18, 6)) as label_fiber,
  try_cast(labelNutrients.sugars.value as decimal(18, 6)) as label_sugars,
  try_cast(labelNutrients.addedSugar.value as decimal(18, 6)) as label_added_sugar,
  try_cast(labelNutrients.protein.value as decimal(18, 6)) as label_protein,
  try_cast(labelNutrients.calcium.value as decimal(18, 6)) as label_calcium,
  try_cast(labelNutrients.iron.value as decimal(18, 6)) as label_iron,
  try_cast(labelNutrients.potassium.value as decimal(18, 6)) as label_potassium,
  try_cast(labelNutrients.vitaminD.value as decimal(18, 6)) as label_vitamin_d,
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
      list_count(list_transform(foodNutrients, lambda stated: stated.nutrient_id)) < len(foodNutrients),
      'one of foodNutrients has no nutrient id, or one that is not a whole number',
      null
    ),
    if(
      list_count(list_transform(foodNutrients, lambda stated: stated.unreadable)) > 0,
      'one of foodNutrients has an amount that is not a number',
      null
    ),
    -- the first of them that is unreadable: most labels have none, or fifteen that are numbers
    case when labelNutrients is not null then coalesce(
      unreadable_amount('calories', labelNutrients.calories.value),
      unreadable_amount('fat', labelNutrients.fat.value),
      unreadable_amount('saturatedFat', labelNutrients.saturatedFat.value),
      unreadable_amount('transFat', labelNutrients.transFat.value),
      unreadable_amount('cholesterol', labelNutrients.cholesterol.value),
      unreadable_amount('sodium', labelNutrients.sodium.value),
      unreadable_amount('carbohydrates', labelNutrients.carbohydrates.value),
      unreadable_amount('fiber', labelNutrients.fiber.value),
      unreadable_amount('sugars', labelNutrients.sugars.value),
      unreadable_amount('addedSugar', labelNutrients.addedSugar.value),
      unreadable_amount('protein', labelNutrients.protein.value),
      unreadable_amount('calcium', labelNutrients.calcium.value),
      unreadable_amount('iron', labelNutrients.iron.value),
      unreadable_amount('potassium', labelNutrients.potassium.value),
      unreadable_amount('vitaminD', labelNutrients.vitaminD.value)
    ) end
  ), '') as other_problem
from food, (from release.derivation_rank)
