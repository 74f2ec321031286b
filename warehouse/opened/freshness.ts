/**
 * The view `ingest.freshness`, which reads all data sets, so it is only in files that show them together. Data sets that
 * are not loaded have no tables there: the view reads empty ones in their place.
 */
import { Freshness, scheduleForms } from "@larder/schemas"
import { dataSets } from "../data-sets.ts"
import { identifier, literal } from "../duckdb.ts"
import { type DataSet, readSql, type View } from "../tables/tables.ts"

const sql = readSql("ingest", "freshness")

const knownPipelines = dataSets.map(({ about: { pipeline } }) => `(${literal(pipeline)})`).join(", ")
const schedulePatterns = Object.entries(scheduleForms)
  .map(([frequency, { pattern }]) => `(${literal(frequency)}, ${literal(pattern.source)})`)
  .join(", ")

/** What the view needs beside the tables: the pipelines, and the forms of a schedule. */
const definitions = `known_pipeline (pipeline) as (values ${knownPipelines}),
schedule_form (frequency, pattern) as (values ${schedulePatterns}),`

/** The view for these data sets. */
export const freshnessView = (loaded: ReadonlyArray<DataSet>): View => {
  const missing = dataSets.filter((dataSet) => !loaded.includes(dataSet)).flatMap(({ tables }) => tables)
  const ddl = missing.reduce(
    (text, { name, record, schema }) => {
      const columns = Object.keys(record.fields).map((column) => `null::varchar as ${identifier(column)}`)
      return text.replaceAll(
        new RegExp(`\\bfrom ${schema}\\.${name}\\b`, "g"),
        `from (select ${columns.join(", ")} where false)`
      )
    },
    sql.replace(/\bwith /, () => `with ${definitions}\n`) // a pattern has "$"
  )
  return { schema: "ingest", name: "freshness", record: Freshness, key: ["pipeline", "kind", "subject"], ddl }
}
