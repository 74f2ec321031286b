/**
 * The format of `records.tsv`: tab-separated, an empty field for null. Fields that follow from others are computed when a
 * record is requested: a line has 0.7 kB, a record 2.5 kB.
 */
import { BrandedFood } from "@larder/schemas"
import { firstOwnAmount, labelColumns } from "../branded-foods/nutrition.ts"

type Field = keyof typeof BrandedFood.fields

/** A text is stored unchanged, which takes half the time of JSON. One that would be misread is stored as JSON. */
const text = (column: string) =>
  `if(${column} = '' or starts_with(${column}, '"') or contains(${column}, chr(9)) or contains(${column}, chr(10)), to_json(${column})::varchar, ${column})`
export const textToJson = (cell: string) => (cell.startsWith('"') ? cell : JSON.stringify(cell))

const day = (column: string) => `'"' || ${column} || '"'`
const unchanged = (column: string) => column
const list = (column: string) => `coalesce(to_json(${column})::varchar, '[]')`

/** The fields that a line contains, as SQL. */
const expressions: Readonly<Partial<Record<Field, (column: string) => string>>> = {
  fdc_id: unchanged,
  description: text,
  short_description: text,
  brand_owner: text,
  brand_name: text,
  subbrand_name: text,
  category: text,
  gpc_class_code: unchanged,
  upc: text,
  package_weight: text,
  serving_size: (column) => `${column}::double`,
  serving_size_unit: text,
  serving_size_unit_normalized: text,
  household_serving_text: text,
  preparation_state_code: text,
  market_country: text,
  market_country_normalized: text,
  trade_channels: list,
  ingredients: text,
  attributes: list,
  caffeine_statement: text,
  footnote: text,
  data_source: text,
  published_on: day,
  available_on: day,
  modified_on: day,
  discontinued_on: day,
  fetched_at: (column) => `strftime(${column}, '"%Y-%m-%dT%H:%M:%S.%gZ"')`
}

/** Lists of numbers, as DuckDB prints them: `[7.14, NULL]`. */
const numbers = {
  nutrient_ids: "list_transform(nutrients, lambda nutrient: nutrient.nutrient_id)",
  amounts: "list_transform(nutrients, lambda nutrient: nutrient.amount::double)",
  own_amounts: `if(${firstOwnAmount()} is null, null, [${labelColumns.map((column) => `${column}::double`).join(", ")}])`
}

/** Fields of the record, in its order. */
export const fields = Object.keys(BrandedFood.fields) as ReadonlyArray<Field> // keys of a literal struct
const columns = fields.filter((field) => expressions[field] !== undefined)
export const isText = (field: Field) => expressions[field] === text

/** The position of each column in a line: first the fields, then the lists of numbers. */
export const cellIndexes = Object.fromEntries(
  [...columns, ...Object.keys(numbers)].map((name, i) => [name, i])
) as Readonly<Record<Field | keyof typeof numbers, number | undefined>> // built from these names

const cells = [...columns.map((column) => expressions[column]?.(column)), ...Object.values(numbers)]
/** One text per line: writing 31 columns takes a quarter more time. */
export const selectRecords = `
  select concat_ws(chr(9), ${cells.map((cell) => `coalesce((${cell})::varchar, '')`).join(", ")})
  from branded_food.food`
