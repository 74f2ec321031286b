/**
 * Loads foods of the JSON release from chunks of lines. DuckDB reads each chunk strictly, as text except for the ids of
 * amounts, and normalises it. A chunk that it refuses is checked line by line, and the remaining lines are read again.
 */
import { literal } from "@larder/warehouse/duckdb.ts"
import { mostBytesOfFood, relationOf } from "../decode/json/keys.ts"
import type { Load } from "../load.ts"
import { derivations } from "./dictionaries.ts"
import { type FieldNames, foodColumns, labelsFrom, placeOf } from "./label.ts"

/** Reads a chunk into the temporary table `chunk`. */
export const readChunk = (path: string) => `create or replace temp table chunk as from ${relationOf(path)}`

/** The keys of `labelNutrients`, by the names of their columns without `label_`. */
const labelKeys = {
  calories: "calories",
  fat: "fat",
  saturated_fat: "saturatedFat",
  trans_fat: "transFat",
  cholesterol: "cholesterol",
  sodium: "sodium",
  carbohydrates: "carbohydrates",
  fiber: "fiber",
  sugars: "sugars",
  added_sugar: "addedSugar",
  protein: "protein",
  calcium: "calcium",
  iron: "iron",
  potassium: "potassium",
  vitamin_d: "vitaminD"
}

const statedIn = (key: string) => `labelNutrients."${key}"."value"`
const amountIn = (key: string) => `try_cast(${statedIn(key)} as decimal(18, 6))`

const labelAmounts = Object.entries(labelKeys).map(([name, key]) => `${amountIn(key)} as label_${name}`)

/** Names a label nutrient only if one is unreadable: most labels have none, or fifteen that are numbers. */
const unreadableLabelNutrient = `case when labelNutrients is not null then case ${Object.values(labelKeys)
  .map(
    (key) => `when ${statedIn(key)} <> '' and ${amountIn(key)} is null
      then 'labelNutrients.${key} is "' || left(${statedIn(key)}, 60) || '", which is no number'`
  )
  .join(" ")} end end`

const fieldNames: FieldNames = {
  description: "description",
  serving_size: "servingSize",
  published_on: "publicationDate",
  available_on: "availableDate",
  modified_on: "modifiedDate",
  discontinued_on: "discontinuedDate"
}

/** Codes in the order of their frequency in branded foods: nearly every amount matches the first or second case. */
const frequent = ["LCCS", "LCCD", "LCSA", "LCSL", "LCSG", "LCSE", "LCGE", "LCGA", "LCGL", "LCGP"]
const derivationId = (code: string) => {
  const order = derivations.toSorted((a, b) => rankIn(frequent, a.derivation) - rankIn(frequent, b.derivation))
  const cases = order.map(({ derivation, derivation_id }) => `when ${literal(derivation)} then ${derivation_id}`)
  return `case ${code} ${cases.join(" ")} end::smallint`
}
const rankIn = (codes: ReadonlyArray<string>, code: string) =>
  codes.includes(code) ? codes.indexOf(code) : codes.length

/**
 * The parts of the amounts that are used, read once. Their ids are read as doubles, which hold them exactly: reading
 * six million texts would take seconds.
 */
const withAmounts = (foods: string) => `(
  select * replace (list_transform(foodNutrients, lambda stated: {
    'id': try_cast(stated.id as bigint),
    'nutrient_id': nutrient_id_of(if(stated.nutrient.id >= 0 and stated.nutrient.id = floor(stated.nutrient.id), stated.nutrient.id, null))::integer,
    'amount': try_cast(stated.amount as decimal(18, 6)),
    'unreadable': if(stated.amount <> '' and try_cast(stated.amount as decimal(18, 6)) is null, true, null),
    'derivation_id': ${derivationId("stated.foodNutrientDerivation.code")}
  }) as foodNutrients)
  from ${foods}
)`

const stated = (foods: string) => `(
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
        'place': ${placeOf("stated.nutrient_id", "founded[stated.derivation_id]", "stated.id")},
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
    ${labelAmounts.join(", ")},
    null as daily_values,
    null::varchar as not_a_significant_source_of,
    materialCode as material_code,
    list_filter(
      list_transform(foodUpdateLog, lambda earlier:
        {'fdc_id': whole(earlier.fdcId, try_cast(earlier.fdcId as integer)), 'published_on': plausible(day_of(earlier.publicationDate))}),
      lambda earlier: earlier.fdc_id is distinct from try_cast(fdcId as integer) and earlier.fdc_id is not null
    ) as earlier_versions,
    1 as source_rows,
    true as has_label_row,
    nullif(concat_ws('; ',
      if(whole(fdcId, try_cast(fdcId as integer)) is null,
        'fdcId is ' || coalesce('"' || left(fdcId, 60) || '", which is no whole number', 'missing'), null),
      if(
        list_count(list_transform(foodNutrients, lambda stated: stated.nutrient_id)) < len(foodNutrients),
        'one of foodNutrients has no nutrient id, or one that is no whole number',
        null
      ),
      if(
        list_count(list_transform(foodNutrients, lambda stated: stated.unreadable)) > 0,
        'one of foodNutrients has an amount that is no number',
        null
      ),
      ${unreadableLabelNutrient}
    ), '') as other_problem
  from ${withAmounts(foods)}, (from release.founded)
)`

type Target = Pick<Load, "run_id" | "feed" | "raw_sha256" | "constants">

const insert = ({ constants }: Target, labels: string) => {
  const columns = foodColumns.join(", ")
  return `insert into branded_food.food (${columns}, form, release_on, fetched_at, run_id, raw_sha256)
    select ${columns}, ${constants} from (${labels}) where problem is null`
}

/** Loads a chunk into labels in one statement. Every record must be valid and unique. */
export const loadChunk = (target: Target, path: string) =>
  insert(target, labelsFrom(stated(relationOf(path)), fieldNames))

/** The last row of the table before the labels of a chunk. */
export const endOfLabels = "select coalesce(max(rowid), -1)::integer as row from branded_food.food"
export const takeBack = (after: number) => `delete from branded_food.food where rowid > ${after}`

/** How many labels a chunk gave, and how many labels of the whole table are duplicates. */
export const loadedAfter = (row: number) => `
  select
    count(*) filter (where rowid > ${row})::integer as labels,
    (count(*) - count(distinct fdc_id))::integer as repeated
  from branded_food.food`

const again = `
  select try_cast(fdcId as integer) as fdc_id, min(line) as first_line
  from chunk
  group by all
  having count(*) > 1`

/** Labels of the table `chunk`, each with its problem. Of several foods with one fdc_id, the first counts. */
const judged = `
  select
    * exclude (first_line) replace (coalesce(problem, if(
      first_line < line or fdc_id in (select fdc_id from branded_food.food),
      'duplicate fdcId ' || fdc_id || ': an earlier line has it',
      null
    )) as problem)
  from (${labelsFrom(stated("chunk"), fieldNames)})
  left join (${again}) using (fdc_id)`

/** Rejects the records of `chunk` that become no label, then inserts the others. */
export const loadJudged = (target: Target) => [
  `insert into ingest.reject
   select 'branded-foods', ${literal(target.feed)}, ${literal(target.run_id)}, ${literal(target.raw_sha256)}, line, problem,
     left(to_json(chunk)::varchar, 100000)
   from (${judged}) join chunk using (line) where problem is not null`,
  insert(target, judged)
]

const namedNutrients = "struct(nutrient struct(id varchar, number varchar, name varchar, unitName varchar))[]"

/** Counts nutrients of a chunk's labels that no dictionary knows yet, or that ours has without a number. */
export const newNutrients = (row: number) => `
  select count(*)::integer as rows
  from (select distinct unnest(nutrients).nutrient_id as nutrient_id from branded_food.food where rowid > ${row})
  where nutrient_id not in (
    select nutrient_id from branded_food.nutrient where number is not null
    union all
    select nutrient_id from release.nutrient
  )`

/**
 * Reads the names of these nutrients from the chunk itself: reading them with every chunk would take longer than all
 * other steps. Only names are read here, so a record that cannot be read loses no data.
 */
export const nameNutrients = (path: string) => `
  insert into release.nutrient
  select distinct try_cast(stated.nutrient.id as integer) as nutrient_id, stated.nutrient.number, stated.nutrient.name, stated.nutrient.unitName
  from (
    select unnest(foodNutrients) as stated
    from read_json(${literal(path)}, format = 'newline_delimited', auto_detect = false, hive_partitioning = false,
      ignore_errors = true, maximum_object_size = ${mostBytesOfFood}, columns = {'foodNutrients': ${literal(namedNutrients)}})
  )
  where nutrient_id not in (select nutrient_id from branded_food.nutrient where number is not null)`
