/**
 * Assembles labels from the staged files, one range of fdc_id after the other, so that memory does not grow with the
 * release. A label consists of a row of food.csv (its name and publication day), the row of branded_food.csv with the
 * same fdc_id, and their rows in food_nutrient.csv and food_attribute.csv.
 */

import { labelColumns } from "@larder/warehouse/branded-foods/nutrition.ts"
import type { DuckDb } from "@larder/warehouse/duckdb.ts"
import { Effect, Schema } from "effect"
import type { Load } from "../load.ts"
import { type FieldNames, foodColumns, labelsFrom, placeOf } from "./label.ts"

/** Labels per range: about 500 MB of memory while they are assembled. */
const labelsOfRange = 400_000

export const csvFieldNames: FieldNames = {
  description: "description in food.csv",
  serving_size: "serving_size in branded_food.csv",
  published_on: "publication_date in food.csv",
  available_on: "available_date in branded_food.csv",
  modified_on: "modified_date in branded_food.csv",
  discontinued_on: "discontinued_date in branded_food.csv"
}

/** Nearly every release uses the first spelling, and the column may be empty or missing. */
export const isBranded = `coalesce(
  data_type = 'branded_food' or lower(trim(data_type)) in ('branded_food', 'branded', ''),
  true
)`

/**
 * The amounts of one food, sorted by nutrient. Of several amounts of one nutrient, the most reliable comes first, and
 * of equally reliable ones the latest added. The sort key is one number: comparing it costs a third of comparing
 * fields.
 */
const nutrients = (range: string) => `
  select
    fdc_id,
    len(rows)::integer as amounts,
    list_transform(rows, lambda row: {
      'nutrient_id': (row.place >> 44)::integer,
      'amount': row.amount,
      'derivation_id': row.derivation_id
    }) as nutrients,
    if(
      list_count(list_transform(rows, lambda row: row.percent)) = 0,
      null,
      list_transform(rows, lambda row: {'nutrient_id': (row.place >> 44)::integer, 'percent': row.percent})
    ) as daily_values
  from (
    select
      fdc_id,
      list_sort(list({
        'place': ${placeOf("nutrient_id", "founded[derivation_id]", "added")},
        'amount': amount,
        'derivation_id': derivation_id,
        'percent': percent_daily_value
      })) as rows
    from release.food_nutrient, (from release.founded)
    where ${range}
    group by fdc_id
  )`

const attributes = (range: string) => `
  select
    fdc_id,
    len(rows)::integer as remarks,
    list_transform(rows, lambda row: {'name': row.name, 'value': row.value}) as attributes
  from (
    select fdc_id, list_sort(list({'added': added, 'name': tidied(name), 'value': tidied(value)})) as rows
    from release.food_attribute
    where ${range}
    group by fdc_id
  )`

const unreadableChannels = `case when trim(trade_channel) <> '' then if(
  channels_in(trade_channel) is null,
  'trade_channel in branded_food.csv is "' || left(trade_channel, 60) || '", which is no JSON array of texts',
  null
) end`

const noName = `if(
  line is null,
  coalesce('food.csv calls it "' || left(data_type, 60) || '", not branded_food', 'food.csv has no row with this fdc_id'),
  null
)`

export const stated = (range: string, hasAttributes: boolean) => `(
  with named as (
    select rowid as line, fdc_id, description, food_category, published_on
    from release.food
    where ${range} and ${isBranded}
  ),
  labelled as (select * from release.branded_food where ${range}),
  amount as (${nutrients(range)}),
  remark as (${attributes(range)})
  select
    line,
    fdc_id,
    description,
    short_description,
    brand_owner,
    brand_name,
    subbrand_name,
    category,
    food_category,
    null::varchar as gpc_class_code,
    gtin_upc,
    package_weight,
    serving_size,
    serving_size_unit,
    household,
    preparation_state_code,
    market_country,
    if(trim(trade_channel) = '', []::varchar[], channels_in(trade_channel)) as trade_channels,
    ingredients,
    coalesce(nutrients, []) as nutrients,
    ${hasAttributes ? "coalesce(attributes, [])" : "attributes"} as attributes,
    null::varchar as caffeine_statement,
    null::varchar as footnote,
    data_source,
    published_on,
    available_on,
    modified_on,
    discontinued_on,
    ${labelColumns.map((column) => `null as ${column}`).join(", ")},
    daily_values,
    not_a_significant_source_of,
    material_code,
    null as earlier_versions,
    ((line is not null)::integer + (labelled.fdc_id is not null)::integer + coalesce(amounts, 0) + coalesce(remarks, 0)) as source_rows,
    labelled.fdc_id is not null as has_label_row,
    nullif(concat_ws('; ',
      ${noName},
      ${unreadableChannels}
    ), '') as other_problem
  from labelled
  full join named using (fdc_id)
  left join amount using (fdc_id)
  left join remark using (fdc_id)
  left join release.other_kind using (fdc_id)
)`

/** Foods of food.csv that are not branded. The release of all foods contains them. */
const stageOtherKinds = `
  create table release.other_kind as
  select fdc_id, data_type from release.food where not (${isBranded})`

const Range = Schema.Struct({ first: Schema.Int, last: Schema.Int, labels: Schema.Int })
const ranges = `
  select min(fdc_id) as first, max(fdc_id) as last, count(*)::integer as labels
  from (
    select fdc_id, (row_number() over (order by fdc_id) - 1) // ${labelsOfRange} as range
    from (
      select fdc_id from release.food where ${isBranded}
      union
      select fdc_id from release.branded_food
    )
  )
  group by range
  order by first`

const Count = Schema.Struct({ rows: Schema.Int })

/** Fills `branded_food.food`. Labels that do not decode go to `release.refused` (fdc_id, reason). */
export const stageLabels = Effect.fnUntraced(function* (db: DuckDb["Service"], load: Load, hasAttributes: boolean) {
  yield* db.run("create table release.refused (fdc_id integer, reason varchar)")
  yield* db.run(stageOtherKinds)
  const columns = foodColumns.join(", ")
  for (const { first, labels, last } of yield* db.all(Range, ranges)) {
    const range = `fdc_id between ${first} and ${last}`
    const label = labelsFrom(stated(range, hasAttributes), csvFieldNames)
    yield* db.run(`
      insert into branded_food.food (${columns}, form, release_on, fetched_at, run_id, raw_sha256)
      select ${columns}, ${load.constants} from (${label}) where problem is null`)
    const [loaded] = yield* db.all(Count, `select count(*)::integer as rows from branded_food.food where ${range}`)
    if (loaded?.rows !== labels) {
      yield* db.run(`insert into release.refused select fdc_id, problem from (${label}) where problem is not null`)
    }
  }
})
