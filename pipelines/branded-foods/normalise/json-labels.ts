/** Labels of the JSON release, as SQL. The query in `json-labels.sql` reads the relation `chunk`. */
import { readFileSync } from "node:fs"
import { labelColumns } from "@larder/warehouse"
import { columnOfKey, foodShape, jsonRelation, labelKeys } from "../decode/json/keys.ts"
import { labelsFrom } from "./label.ts"

const labels = readFileSync(new URL("./json-labels.sql", import.meta.url), "utf8")

const columns = Object.entries(columnOfKey).map(([key, column]) => `"${key}" as ${column}`)
const ownAmount = (key: string) => `"labelNutrients".${key}.value`
const ownAmounts = labelKeys.map((key, i) => `try_cast(${ownAmount(key)} as decimal(18, 6)) as ${labelColumns[i]}`)
/** The first own amount that is unreadable. Most labels have none, or fifteen that are numbers. */
const unreadable = `case when "labelNutrients" is not null then coalesce(
  ${labelKeys.map((key) => `unreadable_amount('${key}', ${ownAmount(key)})`).join(", ")}
) end`
const withColumns = `
  select
    * exclude ("${Object.keys(foodShape).join('", "')}") replace (nullif(concat_ws('; ', other_problem, ${unreadable}), '') as other_problem),
    ${[...columns, ...ownAmounts].join(", ")}
  from (${labels})`

const fieldNames = Object.fromEntries(Object.entries(columnOfKey).map(([key, column]) => [column, key]))

export const chunkLabels = labelsFrom(`(${withColumns})`, fieldNames)

export const jsonLabels = (path: string) => `with chunk as (from ${jsonRelation(path)}) from (${chunkLabels})`
