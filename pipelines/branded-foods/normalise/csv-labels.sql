-- The labels of a CSV release whose fdc_id is between `first` and `last`, with the columns that `normaliseLabels` reads. A
-- label consists of a row of food.csv (its name and publication day), the row of branded_food.csv with the same fdc_id,
-- and their rows in food_nutrient.csv and food_attribute.csv.
create or replace temp macro labels_in_csv(first, last, has_attributes) as table
with named as (
  select rowid as line, fdc_id, description, food_category, published_on
  from release.food
  where fdc_id between first and last and fdc_id not in (select fdc_id from release.other_kind)
),
labelled as (
  select * rename (gtin_upc as upc, household as household_serving_text)
  from release.branded_food
  where fdc_id between first and last
),
-- The amounts of a food, sorted by nutrient. If a nutrient has several rows, one with an amount comes before one without,
-- then the most reliable; if these are equally reliable, the latest. The sort key is one number: comparing it costs a
-- third of comparing fields.
sorted_amount as (
  select
    fdc_id,
    list_sort(list({
      'sort_key': sort_key_of(nutrient_id, rank_of(amount, ranks[derivation_id]), added),
      'amount': amount,
      'derivation_id': derivation_id,
      'percent': percent_daily_value
    })) as rows
  from release.food_nutrient, (from release.lookup)
  where fdc_id between first and last
  group by fdc_id
),
amount as (
  select
    fdc_id,
    len(rows)::integer as amounts,
    list_transform(rows, lambda row: {
      'nutrient_id': (row.sort_key >> 44)::integer,
      'amount': row.amount,
      'derivation_id': row.derivation_id
    }) as nutrients,
    if(
      list_count(list_transform(rows, lambda row: row.percent)) = 0,
      null,
      list_transform(rows, lambda row: {'nutrient_id': (row.sort_key >> 44)::integer, 'percent': row.percent})
    ) as daily_values
  from sorted_amount
),
sorted_attribute as (
  select fdc_id, list_sort(list({'added': added, 'name': tidied(name), 'value': tidied(value)})) as rows
  from release.food_attribute
  where fdc_id between first and last
  group by fdc_id
),
attribute as (
  select
    fdc_id,
    len(rows)::integer as attribute_count,
    list_transform(rows, lambda row: {'name': row.name, 'value': row.value}) as attributes
  from sorted_attribute
),
fault as (
  select fdc_id, bool_or(part_is_rejected) as part_is_rejected, bool_or(unit_is_unusable) as unit_is_unusable
  from release.label_fault
  where fdc_id between first and last
  group by fdc_id
)
select
  * exclude (amounts, attribute_count) replace (
    coalesce(nutrients, []) as nutrients,
    coalesce(part_is_rejected, false) as part_is_rejected,
    coalesce(unit_is_unusable, false) as unit_is_unusable,
    if(has_attributes, coalesce(attributes, []), null) as attributes -- null: the release has no such file
  ),
  null::varchar as gpc_class_code,
  null::varchar as caffeine_statement,
  null::varchar as footnote,
  null as earlier_versions,
  (line is not null)::integer + (labelled.fdc_id is not null)::integer + coalesce(amounts, 0) + coalesce(attribute_count, 0)
    as source_rows,
  labelled.fdc_id is not null as has_label_row,
  null::struct(field varchar, said varchar)[] as odd_parts,
  if(line is null, 'food.csv has no readable row with this fdc_id', null) as other_problem
from labelled
full join named using (fdc_id)
left join amount using (fdc_id)
left join attribute using (fdc_id)
left join fault using (fdc_id)
