/**
 * What is live of a data set, beside another database: its tables, and of `ingest` what those runs told that the data descends
 * from. What a run told that was rolled back or failed is not among it: its payloads are new to whoever reads them again.
 */
import { Effect, Schema } from "effect"
import { type DuckDb, identifier, literal, openError } from "../duckdb.ts"
import type { Layout } from "../generation/layout.ts"
import { readingIngestion } from "../ingestion/file.ts"
import { type DataSet, stagedIngestTables } from "../tables.ts"

type Db = DuckDb["Service"]

/** A column that the live tables lack, and that the next publication adds. */
export interface AddedColumn {
  readonly table: string
  readonly column: string
  readonly type: string
}

/** Catalogues that stand beside `live` for as long as it does. */
const data = "live_data"
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

const Name = Schema.Struct({ name: Schema.String })
/** The live database may lack a table that this version has. */
const tablesIn = (schema: string) => `
  select table_name as name from duckdb_tables() where database_name = '${data}' and schema_name = ${literal(schema)}`

/** Columns that a table lacks are null in every row. */
const dataView = (schema: string, name: string, added: ReadonlyArray<AddedColumn>) => {
  const table = `${identifier(schema)}.${identifier(name)}`
  const nulls = added.flatMap((one) => (one.table === name ? [`null::${one.type} as ${identifier(one.column)}`] : []))
  return `create view live.${table} as select ${["*", ...nulls].join(", ")} from ${data}.${table}`
}

const detach = (db: Db, names: ReadonlyArray<string>) =>
  Effect.forEach(names, (name) => Effect.ignore(db.run(`detach ${name}`)), { discard: true })

/** Attaches the live database of a data set as `live_data`, until the scope ends. */
export const attachLiveData = (db: Db, file: string) =>
  Effect.acquireRelease(
    db.run(`attach ${literal(file)} as ${data} (read_only)`).pipe(Effect.mapError(openError(file))),
    () => detach(db, [data])
  )

/** Shows what is live of a data set as `live`, until the scope ends. Its database is attached as `live_data`. */
export const showLive = Effect.fnUntraced(function* (
  db: Db,
  layout: Layout,
  { about, schema }: DataSet,
  added: ReadonlyArray<AddedColumn> = []
) {
  yield* readingIngestion(layout)
  const shown = Effect.gen(function* () {
    yield* db
      .run(`attach ${literal(layout.ingestion)} as ${ingestion} (read_only)`)
      .pipe(Effect.mapError(openError(layout.ingestion)))
    const tables = yield* db.all(Name, tablesIn(schema))
    const statements = [
      "attach ':memory:' as live",
      `create schema live.${identifier(schema)}`,
      ...tables.map(({ name }) => dataView(schema, name, added)),
      ...ingestViewsOf(about.pipeline)
    ]
    yield* db.run(statements.join(";\n"))
    return new Set(tables.map(({ name }) => `${schema}.${name}`))
  })
  const hide = detach(db, ["live", ingestion])
  return yield* Effect.acquireRelease(
    Effect.onError(shown, () => hide),
    () => hide
  )
})
