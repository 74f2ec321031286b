-- The labels of a chunk of the JSON release: columns that `normaliseLabels` reads, and the keys that release-labels.ts renames.
-- `chunk` is the chunk as read with `jsonRelation` of decode/json/keys.ts. An amount that cannot be read is left out.
with stated as (
  -- The used parts of the amounts, read once. Ids are doubles, which are exact here: parsing six million strings would
  -- take seconds.
  select *, list_transform(foodNutrients, lambda amount: {
    'id': try_cast(amount.id as bigint),
    'nutrient_id': nutrient_in(amount.nutrient.id),
    'amount': try_cast(amount.amount as decimal(18, 6)),
    'unreadable': case when is_unreadable_number(amount.amount) then true end,
    'unit': amount.nutrient.unitName,
    'code': amount.foodNutrientDerivation.code,
    'derivation_id': derivation_id_of(amount.foodNutrientDerivation.code)
  }) as amounts
  from chunk
),
compared as (
  select
    *,
    len(amounts) - list_count(list_transform(amounts, lambda amount: amount.nutrient_id))
      + list_count(list_transform(amounts, lambda amount: amount.unreadable)) as rejected_amounts,
    -- nearly every amount states the unit of the dictionary, in its spelling
    len(list_filter(amounts, lambda amount: amount.unit <> units[amount.nutrient_id])) > 0 as has_other_unit
  from stated, (from release.lookup)
),
-- A lambda costs time for what it captures, so most labels have no printed amounts.
printed as (
  select * exclude (foodNutrients), case when has_other_unit then foodNutrients end as printed
  from compared
),
measured as (
  select * replace (if(
    has_other_unit,
    list_transform(amounts, lambda amount, place: struct_update(amount, amount := if(
      amount.unit <> units[amount.nutrient_id],
      converted(printed[place].amount, unit_factor(amount.unit, units[amount.nutrient_id])),
      amount.amount
    ))),
    amounts
  ) as amounts)
  from printed
),
food as (
  select
    *,
    if(
      rejected_amounts > 0,
      list_filter(amounts, lambda amount: amount.nutrient_id is not null and amount.unreadable is null),
      amounts
    ) as foodNutrients,
    case when has_other_unit then list_transform(
      list_filter(amounts, lambda amount, place:
        amount.amount is null and try_cast(printed[place].amount as decimal(18, 6)) is not null),
      lambda amount: {'field': 'foodNutrients.nutrient.unitName', 'said': amount.unit}
    ) end as unusable_units
  from measured
)
select
  food.* exclude (ranks, units, amounts, printed, rejected_amounts, has_other_unit, unusable_units, has_rejected_part),
  whole_number(fdcId) as fdc_id,
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
      'fdc_id': whole_number(earlier.fdcId),
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
      list_concat(
        case
          when list_count(list_transform(foodAttributes, lambda attribute: try_cast(attribute.id as bigint)))
            < list_count(list_transform(foodAttributes, lambda attribute: attribute.id))
          then odd_attribute_ids(foodAttributes)
        end,
        unusable_units
      )
    )
  ) as odd_parts,
  1 as source_rows,
  true as has_label_row,
  has_rejected_part or coalesce(rejected_amounts > 0, false) as part_is_rejected,
  coalesce(len(unusable_units) > 0, false) as unit_is_unusable,
  case
    when whole_number(fdcId) is null
    then 'fdcId is ' || coalesce('"' || left(fdcId, 60) || '", which is not a whole number', 'missing')
    when rejected_amounts > 1000 then 'more than 1000 of foodNutrients cannot be read' -- a label has up to a hundred
  end as other_problem
from food
