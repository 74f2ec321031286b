-- The labels of a chunk of the JSON release: columns that `normaliseLabels` reads, and the keys that release-labels.ts renames.
-- `chunk` is the chunk as read with `jsonRelation` of decode/json/keys.ts.
with food as (
  -- The used parts of the amounts, read once. Ids are doubles, which are exact here: parsing six million strings would
  -- take seconds.
  select * replace (list_transform(foodNutrients, lambda amount: {
    'id': try_cast(amount.id as bigint),
    'nutrient_id': nutrient_id_of(
      if(amount.nutrient.id >= 0 and amount.nutrient.id = floor(amount.nutrient.id), amount.nutrient.id, null)
    )::integer,
    'amount': try_cast(amount.amount as decimal(18, 6)),
    'unreadable': case
      when amount.amount <> '' and try_cast(amount.amount as decimal(18, 6)) is null
      then if(is_placeholder(amount.amount), null, true)
    end,
    'code': amount.foodNutrientDerivation.code,
    'derivation_id': derivation_id_of(amount.foodNutrientDerivation.code)
  }) as foodNutrients)
  from chunk
)
select
  food.*,
  whole(fdcId, try_cast(fdcId as integer)) as fdc_id,
  null::varchar as food_category,
  list_transform(
    list_sort(list_transform(foodNutrients, lambda amount: {
      'sort_key': sort_key_of(amount.nutrient_id, rank_of(amount.amount, ranks[amount.derivation_id]), amount.id),
      'amount': amount.amount,
      'derivation_id': amount.derivation_id
    })),
    lambda row: {
      'nutrient_id': (row.sort_key >> 44)::integer,
      'amount': row.amount,
      'derivation_id': row.derivation_id
    }
  ) as nutrients,
  list_transform(
    list_sort(list_transform(foodAttributes, lambda attribute:
      {'added': try_cast(attribute.id as bigint), 'name': tidied(attribute.name), 'value': tidied(attribute.value)})),
    lambda row: {'name': row.name, 'value': row.value}
  ) as attributes,
  null as daily_values,
  null::varchar as not_a_significant_source_of,
  list_filter(
    list_transform(foodUpdateLog, lambda earlier: {
      'fdc_id': whole(earlier.fdcId, try_cast(earlier.fdcId as integer)),
      'published_on': plausible(day_of(earlier.publicationDate))
    }),
    lambda earlier: earlier.fdc_id is distinct from try_cast(fdcId as integer) and earlier.fdc_id is not null
  ) as earlier_versions,
  list_concat(
    -- The log lists the label itself, too. Other entries without an id, and entries without a day, may be odd.
    case
      when len(foodUpdateLog) - len(earlier_versions) > 1
        or list_count(list_transform(earlier_versions, lambda earlier: earlier.published_on)) < len(earlier_versions)
      then odd_log_entries(foodUpdateLog)
    end,
    list_concat(
      case
        when list_count(list_transform(foodNutrients, lambda amount: amount.derivation_id))
          < list_count(list_transform(foodNutrients, lambda amount: amount.code))
        then odd_codes(foodNutrients)
      end,
      case
        when list_count(list_transform(foodAttributes, lambda attribute: try_cast(attribute.id as bigint)))
          < list_count(list_transform(foodAttributes, lambda attribute: attribute.id))
        then odd_attribute_ids(foodAttributes)
      end
    )
  ) as odd_parts,
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
