/** The SQL that returns the labels of a release form: a query for that form inside a query that both forms share. */
import { readFileSync } from "node:fs"
import { labelColumns } from "@larder/warehouse"
import { foodShape, jsonRelation, keyColumns, labelKeys } from "../decode/json/keys.ts"
import { type FieldNames, normaliseLabels } from "./label.ts"

const readSql = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8")

const columns = Object.entries(keyColumns).map(([key, column]) => `"${key}" as ${column}`)
const ownAmount = (key: string) => `"labelNutrients".${key}.value`
const ownAmounts = labelKeys.map((key, i) => `try_cast(${ownAmount(key)} as decimal(18, 6)) as ${labelColumns[i]}`)
/** The first of a label's own amounts that is unreadable. Most labels have no own amounts, or fifteen numbers. */
const unreadable = `case when "labelNutrients" is not null then coalesce(
  ${labelKeys.map((key) => `unreadable_amount('${key}', ${ownAmount(key)})`).join(", ")}
) end`
const withColumns = `
  select
    * exclude ("${Object.keys(foodShape).join('", "')}") replace (nullif(concat_ws('; ', other_problem, ${unreadable}), '') as other_problem),
    ${[...columns, ...ownAmounts].join(", ")}
  from (${readSql("./json-labels.sql")})`

const jsonNames = Object.fromEntries(Object.entries(keyColumns).map(([key, column]) => [column, key]))

export const chunkLabels = normaliseLabels(`(${withColumns})`, jsonNames)

export const jsonLabels = (path: string) => `with chunk as (from ${jsonRelation(path)}) from (${chunkLabels})`

/** Needs the tables of the release: DuckDB resolves them when it creates the macro. */
export const createCsvLabels = readSql("./csv-labels.sql")

const csvNames: FieldNames = {
  description: "description in food.csv",
  serving_size: "serving_size in branded_food.csv",
  published_on: "publication_date in food.csv",
  available_on: "available_date in branded_food.csv",
  modified_on: "modified_date in branded_food.csv",
  discontinued_on: "discontinued_date in branded_food.csv"
}

/** Takes a range of fdc_id, so that memory does not grow with the release. */
export const csvLabels = (range: { readonly first: number; readonly last: number }, hasAttributes: boolean) =>
  normaliseLabels(`labels_in_csv(${range.first}, ${range.last}, ${hasAttributes})`, csvNames)
