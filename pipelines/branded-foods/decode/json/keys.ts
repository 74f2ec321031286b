/** The keys of a food in the JSON release, and how DuckDB reads them. */
import { labelColumns, literal } from "@larder/warehouse"
import { isInWords, type LabelField, labelFields, textColumn } from "../../label-fields.ts"

/** `text` is published unchanged, and may be a number; `value` is validated later; other keys of an object are ignored. */
export type JsonShape = "text" | "value" | "number" | readonly [JsonShape] | { readonly [key: string]: JsonShape }

/** The keys of a label's own amounts, in the order of `labelColumns`: `addedSugar` for `label_added_sugar`. */
export const labelKeys = labelColumns.map((column) =>
  column.slice("label_".length).replace(/_./g, (letter) => letter.slice(1).toUpperCase())
)

const listKeys = (isWanted: (field: LabelField) => boolean): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries<LabelField>(labelFields).flatMap(([column, field]) =>
      field.json !== undefined && isWanted(field) ? [[field.json, textColumn(column)]] : []
    )
  )
export const textKeys = listKeys(isInWords)
const valueKeys = listKeys((field) => !isInWords(field) && field.json !== "fdcId")
/** Keys that each become one column. */
export const keyColumns: Readonly<Record<string, string>> = { ...textKeys, ...valueKeys }

const withShape = (keys: object, shape: "text" | "value") =>
  Object.fromEntries(Object.keys(keys).map((key) => [key, shape]))

export const foodShape: { readonly [key: string]: JsonShape } = {
  fdcId: "value",
  ...withShape(textKeys, "text"),
  ...withShape(valueKeys, "value"),
  foodNutrients: [
    {
      id: "number",
      amount: "value",
      nutrient: { id: "number", unitName: "value" },
      foodNutrientDerivation: { code: "value" }
    }
  ],
  foodAttributes: [{ id: "value", name: "text", value: "text" }],
  foodUpdateLog: [{ fdcId: "value", publicationDate: "value" }],
  labelNutrients: Object.fromEntries(labelKeys.map((key) => [key, { value: "value" }]))
}

/** Known keys that are not read: they are the same for every branded food, or always empty. */
const ignoredKeys = ["foodClass", "dataType", "microbes"]
export const knownKeys: ReadonlySet<string> = new Set(["line", ...Object.keys(foodShape), ...ignoredKeys])

/** A longer record is rejected unread. Real records have about 7 kB; the longest has less than 1 MB. */
export const maxRecordBytes = 16 << 20

/**
 * DuckDB's limit for a line, which is a record with its number. DuckDB reads a file in pieces of twice this size, one after the
 * other on each core: with larger ones, a core waits longer for the last, and uses all its time to wait.
 */
export const maxJsonObjectBytes = maxRecordBytes + 1024

export const isList = (shape: JsonShape): shape is readonly [JsonShape] => Array.isArray(shape)

const duckDbType = (shape: JsonShape): string => {
  if (shape === "text" || shape === "value") return "varchar"
  if (shape === "number") return "double"
  if (isList(shape)) return `${duckDbType(shape[0])}[]`
  return `struct(${Object.entries(shape)
    .map(([key, inner]) => `"${key}" ${duckDbType(inner)}`)
    .join(", ")})`
}

export const jsonRelation = (path: string) => {
  const columns = Object.entries(foodShape).map(([key, shape]) => `${literal(key)}: ${literal(duckDbType(shape))}`)
  return `read_json(${literal(path)}, format = 'newline_delimited', auto_detect = false, hive_partitioning = false,
    maximum_object_size = ${maxJsonObjectBytes}, columns = {'line': 'bigint', ${columns.join(", ")}})`
}

/** `hasRejectedPart` is the condition on a `line` of which a part was removed because it cannot be read. */
export const readChunkSql = (path: string, hasRejectedPart = "false") =>
  `create or replace temp table chunk as select *, ${hasRejectedPart} as has_rejected_part from ${jsonRelation(path)}`
