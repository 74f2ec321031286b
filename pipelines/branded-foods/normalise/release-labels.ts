/** The SQL that returns the labels of a release form: a query for that form inside a query that both forms share. */
import { readFileSync } from "node:fs"
import { labelColumns, literal } from "@larder/warehouse"
import { foodShape, jsonRelation, keyColumns, labelKeys } from "../decode/json/keys.ts"
import { type LabelField, labelFields, textColumn } from "../label-fields.ts"
import { type FieldNames, normaliseLabels } from "./label.ts"
import { oddFields, oddText } from "./odd-fields.ts"

const readSql = (file: string) => readFileSync(new URL(file, import.meta.url), "utf8")

const columns = Object.entries(keyColumns).map(([key, column]) => `"${key}" as ${column}`)
const ownAmount = (key: string) => `"labelNutrients".${key}.value`
const ownAmounts = labelKeys.map((key, i) => `try_cast(${ownAmount(key)} as decimal(18, 6)) as ${labelColumns[i]}`)
/** Whether one of a label's own amounts cannot be read. Most labels have no own amounts, or fifteen numbers. */
const hasRejectedOwnAmount = `case when "labelNutrients" is not null
  then ${labelKeys.map((key) => `is_unreadable_number(${ownAmount(key)})`).join(" or ")} end`
/**
 * Parts of the records of `chunk` that cannot be read: `line`, `part`, its `place`, `reason`, and `payload`, the record with
 * only this part.
 */
export const rejectedParts = `
  select line, 'foodNutrients' as part, place, amount_problem(stated, place) as reason,
    to_json({'fdcId': fdcId, 'foodNutrients': [stated]}) as payload
  from (
    select line, fdcId, unnest(foodNutrients) as stated, generate_subscripts(foodNutrients, 1) - 1 as place
    from chunk
  )
  where amount_problem(stated, place) is not null
  union all
  select line, 'labelNutrients', null, reason, to_json({'fdcId': fdcId, 'labelNutrients': labelNutrients})
  from (
    select *, unnest([${labelKeys.map((key) => `own_amount_problem('${key}', ${ownAmount(key)})`).join(", ")}]) as reason
    from chunk where labelNutrients is not null
  )
  where reason is not null`
/** What unreadable ids and days in the log of a label's earlier versions said. */
const oddLogEntries = (
  [
    ["fdcId", "whole number"],
    ["publicationDate", "day"]
  ] as const
).map(
  ([key, type]) =>
    `list_transform(foodUpdateLog, lambda earlier: {'field': 'foodUpdateLog.${key}', 'said': ${oddText(type, `earlier.${key}`)}})`
)
const jsonQuery = readSql("./json-labels.sql").replace(
  "odd_log_entries(foodUpdateLog)",
  `list_concat(${oddLogEntries.join(", ")})`
)
const withColumns = `
  select
    * exclude ("${Object.keys(foodShape).join('", "')}")
      replace (part_is_rejected or coalesce(${hasRejectedOwnAmount}, false) as part_is_rejected),
    ${[...columns, ...ownAmounts].join(", ")}
  from (${jsonQuery})`

const jsonNames = Object.fromEntries(Object.entries(keyColumns).map(([key, column]) => [column, key]))

export const chunkLabels = normaliseLabels(`(${withColumns})`, jsonNames)

export const jsonLabels = (path: string) =>
  `with chunk as (select *, false as has_rejected_part from ${jsonRelation(path)}) from (${chunkLabels})`

/** Needs the tables of the release: DuckDB resolves them when it creates the macro. */
export const createCsvLabels = readSql("./csv-labels.sql")

const csvNames: FieldNames = Object.fromEntries(
  Object.entries<LabelField>(labelFields).flatMap(([column, { csv }]) => {
    const [file, header] = csv?.split(".") ?? []
    return header === undefined ? [] : [[column, `${header} in ${file}.csv`]]
  })
)

/** Takes a range of fdc_id, so that memory does not grow with the release. */
export const csvLabels = (range: { readonly first: number; readonly last: number }, hasAttributes: boolean) =>
  normaliseLabels(`labels_in_csv(${range.first}, ${range.last}, ${hasAttributes})`, csvNames)

/** Many labels say the same, so each text is tested once. */
const selectOdd = (csv: string, said: string, isOdd: string) => {
  const member = `release.${csv.split(".")[0]}`
  return `select fdc_id, ${literal(csv)} as field, ${said} as said from ${member}
    where ${said} in (select ${said} from (select distinct ${said} from ${member}) where ${isOdd})`
}

/** What unreadable optional fields of labels of the staged CSV files said. A label is branded, whatever its kind says. */
export const csvOdd = `
  select field, said
  from (${[
    selectOdd("food.data_type", "data_type", "not is_branded(data_type)"),
    ...oddFields.flatMap(([column, { csv, type }]) => {
      if (csv === undefined) return []
      const said = textColumn(column)
      return [selectOdd(csv, said, `${oddText(type, said)} is not null`)]
    })
  ].join(" union all ")})
  semi join branded_food.food using (fdc_id)`
