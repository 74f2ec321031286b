/**
 * How a finished record lies in `records.tsv`: one line per label version, JSON tokens between tabs, which JSON never holds
 * raw. What follows from other fields is left out and put together when a record is asked for: a line has 0.7 kB, a record 2.5.
 */
import { BrandedFood } from "@larder/schemas/branded-food/records.ts"
import { nutritionKeys } from "./nutrition.ts"

type Field = keyof typeof BrandedFood.fields

const text = (column: string) => `to_json(${column})`
const day = (column: string) => `'"' || ${column} || '"'`
const whole = (column: string) => column
const listed = (column: string) => `coalesce(to_json(${column})::varchar, '[]')`

/** The fields that a line states, in SQL. */
const stated: Readonly<Partial<Record<Field, (column: string) => string>>> = {
  fdc_id: whole,
  description: text,
  short_description: text,
  brand_owner: text,
  brand_name: text,
  subbrand_name: text,
  category: text,
  gpc_class_code: whole,
  upc: text,
  package_weight: text,
  serving_size: (column) => `${column}::double`,
  serving_size_unit: text,
  serving_size_unit_normalized: text,
  household_serving_text: text,
  preparation_state_code: text,
  market_country: text,
  market_country_normalized: text,
  trade_channels: listed,
  ingredients: text,
  attributes: listed,
  caffeine_statement: text,
  footnote: text,
  data_source: text,
  published_on: day,
  available_on: day,
  modified_on: day,
  discontinued_on: day,
  fetched_at: (column) => `strftime(${column}, '"%Y-%m-%dT%H:%M:%S.%gZ"')`
}

/** Numbers as DuckDB prints a list of them: `[7.14, NULL]`. */
const numbers = {
  nutrient_ids: "list_transform(nutrients, lambda stated: stated.nutrient_id)",
  amounts: "list_transform(nutrients, lambda stated: stated.amount::double)",
  own_amounts: `if(label_nutrients is null, null, [${nutritionKeys.map((key) => `label_nutrients.${key}::double`).join(", ")}])`
}

/** Fields of the record, in its order. */
export const fields = Object.keys(BrandedFood.fields) as ReadonlyArray<Field> // keys of a literal struct
const columns = fields.filter((field) => stated[field] !== undefined)

/** Columns of a line: first the stated fields, then the lists of numbers. */
export const placeOf = Object.fromEntries(
  [...columns, ...Object.keys(numbers)].map((name, i) => [name, i])
) as Readonly<Record<Field | keyof typeof numbers, number | undefined>> // made from these very names

export const nullToken = "null"

const tokens = [...columns.map((column) => stated[column]?.(column)), ...Object.values(numbers)]
/** One text a line: DuckDB writes it in four fifths of the time that 31 columns take. */
export const selectRecords = `
  select concat_ws(chr(9), ${tokens.map((token) => `coalesce((${token})::varchar, '${nullToken}')`).join(", ")})
  from branded_food.food`
