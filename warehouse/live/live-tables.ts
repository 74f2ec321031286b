/**
 * The live state of a data set, shown beside another database: its tables, and from `ingest` the records of the runs
 * from which the data descends. Records of failed or rolled-back runs are left out: their payloads count as unread.
 */
import { Effect } from "effect"
import { type DuckDb, identifier, literal, openError } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { attachIngestion } from "../ingestion/file.ts"
import { type AddedColumn, nameOf, selectedOf, tablesIn } from "../tables/earlier-versions.ts"
import { stagedIngestTables } from "../tables/ingest-tables.ts"
import type { DataSet } from "../tables/tables.ts"

type Db = DuckDb["Service"]

/** Catalogues that are attached beside `live`, for as long as it is. */
export const liveData = "live_data"
const ingestion = "live_ingestion"

const ingestViewsOf = (pipeline: string) => {
  const own = `where pipeline = ${literal(pipeline)}`
  return [
    "create schema live.ingest",
    `create view live.ingest.run as from ${ingestion}.ingest.live_run ${own}`,
    ...stagedIngestTables.map(({ name }) => {
      const source = `${ingestion}.ingest.live_${name}`
      return `create view live.ingest.${name} as from ${source} semi join live.ingest.run using (run_id)`
    })
  ]
}

const detach = (db: Db, name: string) => Effect.ignore(db.run(`detach ${name}`))

/** Attaches the live database of a data set as `live_data`, until the scope ends. */
export const attachLiveData = (db: Db, file: string) =>
  Effect.acquireRelease(
    db.run(`attach ${literal(file)} as ${liveData} (read_only)`).pipe(Effect.mapError(openError(file))),
    () => detach(db, liveData)
  )

/**
 * Shows the live state of a data set as `live`, until the scope ends, with the columns of this version. Its database is
 * attached as `live_data`, and lacks the `added` columns.
 */
export const showLive = Effect.fnUntraced(function* (
  db: Db,
  layout: Layout,
  { about, schema, tables }: DataSet,
  added: ReadonlyArray<AddedColumn> = []
) {
  yield* attachIngestion(layout, db, ingestion)
  const showing = Effect.gen(function* () {
    const there = yield* tablesIn(db, liveData, schema) // the live database may lack a table that this version has
    const shown = tables.filter(({ name }) => there.has(name))
    const statements = [
      "attach ':memory:' as live",
      `create schema live.${identifier(schema)}`,
      ...shown.map(
        (table) =>
          `create view live.${nameOf(table)} as select ${selectedOf(table, added)} from ${liveData}.${nameOf(table)}`
      ),
      ...ingestViewsOf(about.pipeline)
    ]
    yield* db.run(statements.join(";\n"))
    return new Set(shown.map(({ name }) => `${schema}.${name}`))
  })
  const hide = detach(db, "live")
  return yield* Effect.acquireRelease(
    Effect.onError(showing, () => hide),
    () => hide
  )
})
