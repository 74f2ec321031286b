/** The statistics of a Parquet file in the format of Delta: readers skip files whose values cannot match a query. */
import { Schema } from "effect"

/** What `copy … (return_stats)` returns: the values that DuckDB writes into the footer of the file, as text. */
export const ColumnStatistics = Schema.Array(
  Schema.Struct({
    /** `"price"`, or `"images"."element"."src"` for a value inside a column. */
    key: Schema.String,
    value: Schema.Array(Schema.Struct({ key: Schema.String, value: Schema.String }))
  })
)

/** Longer strings are omitted: no reader skips a file because of them. */
const maxTextLength = 64

/** Readers know no other days: DuckDB also has `0001-01-01 (BC)`, `infinity` and years above 9999. */
const startsWithDay = (text: string) => /^\d{4}-\d\d-\d\d(T|$)/.test(text)

/** In whole milliseconds, as in Delta: a finer maximum is rounded up. Undefined for years that readers do not know. */
const jsonTimestamp = (text: string, isMax: boolean) => {
  const [seconds = "", fraction = ""] = text.split(".")
  const time = Date.parse(`${seconds.replace(" ", "T")}.${fraction.slice(0, 3).padEnd(3, "0")}Z`)
  if (Number.isNaN(time)) return undefined
  const roundedUp = isMax && Number(fraction.slice(3)) > 0 ? 1 : 0
  const rounded = new Date(time + roundedUp).toISOString().replace("Z", "")
  return startsWithDay(rounded) ? JSON.stringify(rounded) : undefined
}

/** Some readers put `-0.0` before `0.0`, others treat them as equal: the bounds include both. */
const jsonDouble = (text: string, isMax: boolean) => {
  const value = Number(text)
  if (value === 0) return isMax ? "0.0" : "-0.0"
  return Number.isFinite(value) ? text : undefined
}

/** Undefined if the value is omitted. Digits are copied as they are, because a double has too few of them. */
const jsonValue = (type: string, text: string, isMax: boolean) => {
  if (/INT$|^INTEGER$|^DECIMAL\([^)]*\)$/.test(type)) return text
  if (type === "DOUBLE") return jsonDouble(text, isMax)
  if (type === "DATE") return startsWithDay(text) ? JSON.stringify(text) : undefined
  if (type === "TIMESTAMP") return jsonTimestamp(text, isMax)
  return type === "VARCHAR" && text.length <= maxTextLength ? JSON.stringify(text) : undefined
}

/** `columns` have DuckDB's types. Values inside lists and structs have no statistics. */
export const formatStatistics = (
  rows: number,
  columns: ReadonlyArray<{ readonly name: string; readonly type: string }>,
  statistics: typeof ColumnStatistics.Type
) => {
  const byKey = new Map(
    statistics.map(({ key, value }) => [key, new Map(value.map((entry) => [entry.key, entry.value]))])
  )
  const [minimums, maximums, nulls]: [Array<string>, Array<string>, Array<string>] = [[], [], []]
  for (const { name, type } of columns) {
    const values = byKey.get(`"${name.replaceAll('"', '""')}"`)
    const key = JSON.stringify(name)
    const [min, max, nullCount] = [values?.get("min"), values?.get("max"), values?.get("null_count")]
    if (nullCount !== undefined) nulls.push(`${key}:${nullCount}`)
    if (min === undefined || max === undefined || values?.get("has_nan") === "true") continue
    const [least, greatest] = [jsonValue(type, min, false), jsonValue(type, max, true)]
    if (least === undefined || greatest === undefined) continue
    minimums.push(`${key}:${least}`)
    maximums.push(`${key}:${greatest}`)
  }
  return `{"numRecords":${rows},"minValues":{${minimums.join(",")}},"maxValues":{${maximums.join(",")}},"nullCount":{${nulls.join(",")}}}`
}
