/**
 * The format of `records.tsv`: tab-separated, an empty field for null. Derived fields are computed when a record is
 * requested: a line has 0.7 kB, a record 2.5 kB.
 */
import { BrandedFood } from "@larder/schemas"
import { firstOwnAmount, labelColumns } from "../branded-foods/nutrition.ts"

type Field = keyof typeof BrandedFood.fields

/** JSON takes twice the time: only for empty strings, and those with a leading quote, a tab or a line feed. */
const stringToSql = (column: string) =>
  `if(${column} = '' or starts_with(${column}, '"') or contains(${column}, chr(9)) or contains(${column}, chr(10)), to_json(${column})::varchar, ${column})`
export const stringToJson = (cell: string) => (cell.startsWith('"') ? cell : JSON.stringify(cell))

const dayToSql = (column: string) => `'"' || ${column} || '"'`
const unchanged = (column: string) => column
const listToSql = (column: string) => `coalesce(to_json(${column})::varchar, '[]')`

/** The fields that a line contains, as SQL. */
const expressions: Readonly<Partial<Record<Field, (column: string) => string>>> = {
  fdc_id: unchanged,
  description: stringToSql,
  short_description: stringToSql,
  brand_owner: stringToSql,
  brand_name: stringToSql,
  subbrand_name: stringToSql,
  category: stringToSql,
  gpc_class_code: unchanged,
  upc: stringToSql,
  package_weight: stringToSql,
  serving_size: (column) => `${column}::double`,
  serving_size_unit: stringToSql,
  serving_size_unit_normalized: stringToSql,
  household_serving_text: stringToSql,
  preparation_state_code: stringToSql,
  market_country: stringToSql,
  market_country_normalized: stringToSql,
  trade_channels: listToSql,
  ingredients: stringToSql,
  attributes: listToSql,
  caffeine_statement: stringToSql,
  footnote: stringToSql,
  data_source: stringToSql,
  published_on: dayToSql,
  available_on: dayToSql,
  modified_on: dayToSql,
  discontinued_on: dayToSql,
  fetched_at: (column) => `strftime(${column}, '"%Y-%m-%dT%H:%M:%S.%gZ"')`
}

/** Lists of numbers, as DuckDB prints them: `[7.14, NULL]`. */
const numbers = {
  nutrient_ids: "list_transform(nutrients, lambda nutrient: nutrient.nutrient_id)",
  amounts: "list_transform(nutrients, lambda nutrient: nutrient.amount::double)",
  own_amounts: `if(${firstOwnAmount()} is null, null, [${labelColumns.map((column) => `${column}::double`).join(", ")}])`
}

/** Fields of the record, in its order. */
export const fields = Object.keys(BrandedFood.fields) as ReadonlyArray<Field> // the object has exactly these keys
const columns = fields.filter((field) => expressions[field] !== undefined)
export const isString = (field: Field) => expressions[field] === stringToSql

/** The position of each column in a line: first the fields, then the lists of numbers. */
export const cellIndexes = Object.fromEntries(
  [...columns, ...Object.keys(numbers)].map((name, i) => [name, i])
) as Readonly<Record<Field | keyof typeof numbers, number | undefined>> // the keys are these names

const cellExpressions = [...columns.map((column) => expressions[column]?.(column)), ...Object.values(numbers)]
/** One string per line: writing 31 columns takes a quarter more time. */
export const selectRecords = `
  select concat_ws(chr(9), ${cellExpressions.map((expression) => `coalesce((${expression})::varchar, '')`).join(", ")})
  from branded_food.food`
