/** The view `ingest.freshness` over rows that a test inserts, at a time that it chooses, and builders of such rows. */
import { DuckDb, dataSets, literal } from "@larder/warehouse"
import { freshnessView } from "@larder/warehouse/opened/freshness.ts"
import { createUncommentedTables, qualifiedName } from "@larder/warehouse/tables/dictionary.ts"
import { ingestTables, ingestViews } from "@larder/warehouse/tables/ingest-tables.ts"
import type { DataSet } from "@larder/warehouse/tables/tables.ts"
import { Effect } from "effect"
import { oncePerFile } from "../once-per-file.ts"

type Value = string | number | boolean | null

export type RowOf = Readonly<Record<string, Value>>
/** Rows by the name of their table, such as `commodity.metric`. Required columns that a row omits are empty texts or zero. */
export type Rows = Readonly<Record<string, ReadonlyArray<RowOf>>>

const tables = [...ingestTables, ...dataSets.flatMap(({ tables }) => tables)]

const insertRow = (name: string, row: RowOf) => {
  const ddl = tables.find((table) => `${table.schema}.${table.name}` === name)?.ddl ?? ""
  const required = [...ddl.matchAll(/^ {2}(\w+) (varchar|bigint|integer|double|boolean|timestamp) not null/gm)]
  const emptyOf: Readonly<Record<string, Value>> = { timestamp: "2000-01-01", varchar: "" }
  const empty = required.map(([, column = "", type = ""]) => [column, emptyOf[type] ?? 0] as const)
  const values = { ...Object.fromEntries(empty), ...row }
  const columns = Object.entries(values).map(
    ([column, value]) => `${typeof value === "string" ? literal(value) : value} as ${column}`
  )
  return `insert into ${name} by name select ${columns.join(", ")}`
}

/** A database with all tables, and functions that query the view in it. Call it in a test file, once. */
export const freshnessOf = () => {
  const database = oncePerFile(
    Effect.gen(function* () {
      const db = yield* DuckDb.memory // its only connection keeps a transaction
      yield* createUncommentedTables(db, tables)
      yield* db.run(ingestViews.map(({ ddl }) => ddl).join(";\n"))
      return db
    })
  )
  /** The view over these rows only, at a moment in UTC: `columns` of what is judged, except data sets that are not loaded. */
  const queryFreshness = Effect.fnUntraced(function* (
    columns: string,
    moment: string,
    rows: Rows,
    loaded: ReadonlyArray<DataSet> = dataSets
  ) {
    const db = yield* database
    const view = freshnessView(loaded)
    const ddl = view.ddl.replace("make_timestamp(epoch_us(now()))", `timestamp ${literal(moment)}`)
    const inserts = Object.entries(rows).flatMap(([name, list]) => list.map((row) => insertRow(name, row)))
    yield* db.run(["begin", ...inserts, ddl].join(";\n"))
    const shown = loaded.length === dataSets.length ? "kind <> 'data_set'" : "true"
    const select = db.rows(`select ${columns} from ${qualifiedName(view)} where ${shown} order by kind, subject`)
    return yield* Effect.ensuring(select, Effect.orDie(db.run("rollback")))
  })
  /** The state of each subject. */
  const statesAt = (moment: string, rows: Rows) =>
    Effect.map(queryFreshness("subject, state", moment, rows), (found) =>
      Object.fromEntries(found.map(({ state, subject }) => [subject, state]))
    )
  return { queryFreshness, statesAt }
}

/** A live run of a pipeline; its number orders it. */
export const aRun = (number: number, pipeline: string, finished_at: string, set: RowOf = {}): RowOf => ({
  run_id: `run-${number}`,
  pipeline,
  origin: "live",
  outcome: "published",
  started_at: finished_at,
  finished_at,
  recorded_in: `larder-${String(number).padStart(6, "0")}`,
  ...set
})
export const payload = (number: number, pipeline: string, feed: string, url = ""): RowOf => ({
  run_id: `run-${number}`,
  pipeline,
  feed,
  url,
  raw_sha256: `${feed} ${number}`
})
export const leftOut = (number: number, pipeline: string, feed: string, kind: string): RowOf => ({
  run_id: `run-${number}`,
  pipeline,
  feed,
  kind,
  reason: `${kind}\n  reason`
})

/** Metrics by their names, of one weekly report that prints them always, unless they say otherwise, and one run. */
export const metricRows = (metrics: Readonly<Record<string, RowOf>>, rows: Rows = {}): Rows => ({
  "ingest.data_set": [{ pipeline: "commodities", is_sample: false }],
  "commodity.metric": Object.entries(metrics).map(([metric_name, metric]) => ({
    metric_name,
    feed: "report",
    frequency: "weekly",
    publishes_on: "Wednesday of the next week, 13:15",
    printed: "always",
    ...metric
  })),
  "ingest.run": [aRun(1, "commodities", "2026-09-01")],
  "ingest.raw_file": [payload(1, "commodities", "report")],
  ...rows
})
