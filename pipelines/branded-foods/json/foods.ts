/**
 * Foods of the JSON release, out of chunks of lines: DuckDB reads each chunk strictly, everything as text, and normalises
 * it. A chunk that it refuses is looked through line by line, and what is left of it is read again.
 */
import { literal } from "@larder/warehouse/duckdb.ts"
import { type FieldNames, foodColumns, labelsFrom, placeOf } from "../label.ts"
import type { Load } from "../load.ts"

/** Keys of a food that are read, and their types; what is nested keeps the parts that are needed. */
const read = {
  line: "bigint",
  fdcId: "varchar",
  description: "varchar",
  shortDescription: "varchar",
  brandOwner: "varchar",
  brandName: "varchar",
  subbrandName: "varchar",
  brandedFoodCategory: "varchar",
  gpcClassCode: "varchar",
  gtinUpc: "varchar",
  packageWeight: "varchar",
  servingSize: "varchar",
  servingSizeUnit: "varchar",
  householdServingFullText: "varchar",
  preparationStateCode: "varchar",
  marketCountry: "varchar",
  tradeChannels: "varchar[]",
  ingredients: "varchar",
  foodNutrients:
    "struct(id bigint, amount varchar, nutrient struct(id integer, number varchar, name varchar, unitName varchar), foodNutrientDerivation struct(code varchar))[]",
  foodAttributes: "struct(id bigint, name varchar, value varchar)[]",
  foodUpdateLog: "struct(fdcId integer, publicationDate varchar)[]",
  labelNutrients: `struct(${[
    "calories",
    "fat",
    "saturatedFat",
    "transFat",
    "cholesterol",
    "sodium",
    "carbohydrates",
    "fiber",
    "sugars",
    "addedSugar",
    "protein",
    "calcium",
    "iron",
    "potassium",
    "vitaminD"
  ]
    .map((key) => `"${key}" struct("value" varchar)`)
    .join(", ")})`,
  caffeineStatement: "varchar",
  footnote: "varchar",
  materialCode: "varchar",
  dataSource: "varchar",
  publicationDate: "varchar",
  availableDate: "varchar",
  modifiedDate: "varchar",
  discontinuedDate: "varchar"
} as const

/** Known, and the same for every branded food or always empty. */
const leftOut = ["foodClass", "dataType", "microbes"]
export const knownKeys: ReadonlySet<string> = new Set([...Object.keys(read), ...leftOut])

/** The longest food so far has 60 kB; the cutter holds none that is longer than 16 MB. */
const mostBytesOfFood = 33_554_432

const relationOf = (path: string) => {
  const columns = Object.entries(read).map(([key, type]) => `${literal(key)}: ${literal(type)}`)
  return `read_json(${literal(path)}, format = 'newline_delimited', auto_detect = false,
    maximum_object_size = ${mostBytesOfFood}, columns = {${columns.join(", ")}})`
}

/** Reads a chunk into `release.chunk`. */
export const readChunk = (path: string) => `create or replace temp table chunk as from ${relationOf(path)}`

const label = (keys: Readonly<Record<string, string>>) =>
  Object.entries(keys)
    .map(([name, key]) => `'${name}': try_cast(labelNutrients."${key}"."value" as decimal(18, 6))`)
    .join(", ")

const labelNutrients = `if(labelNutrients is null, null, {${label({
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
})}})`

const fieldNames: FieldNames = {
  description: "description",
  gpc_class_code: "gpcClassCode",
  serving_size: "servingSize",
  published_on: "publicationDate",
  available_on: "availableDate",
  modified_on: "modifiedDate",
  discontinued_on: "discontinuedDate"
}

const unreadableAmounts = `len(list_filter(foodNutrients, lambda stated:
  stated.nutrient.id is null or (trim(stated.amount) <> '' and try_cast(stated.amount as decimal(18, 6)) is null)))`

const stated = `(
  select
    line,
    try_cast(fdcId as integer) as fdc_id,
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
        'place': ${placeOf("stated.nutrient.id", "founded[codes[stated.foodNutrientDerivation.code]]", "stated.id")},
        'amount': try_cast(stated.amount as decimal(18, 6)),
        'derivation_id': codes[stated.foodNutrientDerivation.code]
      })),
      lambda row: {
        'nutrient_id': (row.place >> 44)::integer,
        'amount': row.amount,
        'derivation_id': row.derivation_id
      }
    ) as nutrients,
    list_transform(
      list_sort(list_transform(foodAttributes, lambda remark:
        {'added': remark.id, 'name': trimmed(collapsed(remark.name)), 'value': trimmed(collapsed(remark.value))})),
      lambda row: {'name': row.name, 'value': row.value}
    ) as attributes,
    caffeineStatement as caffeine_statement,
    footnote,
    dataSource as data_source,
    publicationDate as published_on,
    availableDate as available_on,
    modifiedDate as modified_on,
    discontinuedDate as discontinued_on,
    ${labelNutrients} as label_nutrients,
    null as daily_values,
    null::varchar as not_a_significant_source_of,
    materialCode as material_code,
    list_filter(
      list_transform(foodUpdateLog, lambda earlier:
        {'fdc_id': earlier.fdcId, 'published_on': plausible(day_of(earlier.publicationDate))}),
      lambda earlier: earlier.fdc_id is distinct from try_cast(fdcId as integer) and earlier.fdc_id is not null
    ) as earlier_versions,
    1 as source_rows,
    true as has_label_row,
    nullif(concat_ws('; ',
      if(fdcId is null or try_cast(fdcId as integer)::varchar is distinct from trim(fdcId),
        'fdcId is ' || coalesce('"' || left(fdcId, 60) || '", which is no whole number', 'missing'), null),
      if(${unreadableAmounts} > 0, ${unreadableAmounts} || ' of foodNutrients have no nutrient id, or an amount that is no number', null)
    ), '') as other_problem
  from chunk, (from release.founded), (select map(list(derivation), list(derivation_id)) as codes from branded_food.derivation)
)`

const again = `
  select try_cast(fdcId as integer) as fdc_id, min(line) as first_line
  from chunk
  group by all
  having count(*) > 1`

/** Of foods with one fdc_id the first counts. */
const labelled = `
  select
    * exclude (first_line) replace (coalesce(problem, if(
      first_line < line or fdc_id in (select fdc_id from release.seen),
      'fdcId ' || fdc_id || ' stands in an earlier line, too',
      null
    )) as problem)
  from (${labelsFrom(stated, fieldNames)})
  left join (${again}) using (fdc_id)`

/** Before the first chunk. */
export const beforeChunks = "create table release.seen (fdc_id integer)"

/** From `chunk` to labels; those with a problem are rejected. */
export const loadChunk = (load: Pick<Load, "run_id" | "feed" | "raw_sha256" | "constants">) => {
  const columns = foodColumns.join(", ")
  return [
    `create or replace temp table labelled as ${labelled}`,
    `insert into branded_food.food (${columns}, release_on, fetched_at, run_id, raw_sha256)
     select ${columns}, ${load.constants} from labelled where problem is null`,
    "insert into release.seen select fdc_id from labelled where problem is null",
    `insert into ingest.reject
     select 'branded-foods', ${literal(load.feed)}, ${literal(load.run_id)}, ${literal(load.raw_sha256)}, line, problem,
       left(to_json(chunk)::varchar, 100000)
     from labelled join chunk using (line) where problem is not null`,
    `insert into release.nutrient
     select distinct stated.nutrient.id, stated.nutrient.number, stated.nutrient.name, stated.nutrient.unitName
     from (select unnest(foodNutrients) as stated from chunk)
     where stated.nutrient.id not in (select nutrient_id from branded_food.nutrient)`
  ]
}
