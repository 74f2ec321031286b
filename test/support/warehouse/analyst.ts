/** Database files as an analyst sees them: query results in any time zone, columns, rows and comments. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { DuckDb, type DuckDbError, identifier, literal } from "@larder/warehouse"
import type { Row } from "@larder/warehouse/duckdb.ts"
import { Effect, FileSystem, Schema, Scope, Semaphore } from "effect"

const NameRow = Schema.Struct({ name: Schema.String })

/** Opens a session in which a database file is attached as `larder` and used. */
export const openAsAnalyst = Effect.fnUntraced(function* (file: string) {
  const db = yield* DuckDb.memory
  yield* db.run(`attach ${literal(file)} as larder (read_only); use larder`)
  return db
})

/** One session for all queries, open until the process ends: opening one for each would take 30 ms of CPU. */
const session = Effect.runSync(
  Effect.cached(
    Effect.suspend(() => {
      const folder = mkdtempSync(path.join(tmpdir(), "larder-analyst-"))
      const opened = Scope.provide(DuckDb.readWrite(path.join(folder, "own.duckdb")), Scope.makeUnsafe())
      return Effect.ensuring(
        opened,
        Effect.sync(() => rmSync(folder, { recursive: true }))
      )
    })
  )
)
const lock = Semaphore.makeUnsafe(1)

/** Runs queries in the session. `attach` attaches files under these names, which are detached afterwards. */
const queryAttached = (
  names: ReadonlyArray<string>,
  attach: (db: DuckDb["Service"]) => Effect.Effect<void, DuckDbError>,
  queries: ReadonlyArray<string>
) =>
  lock.withPermit(
    Effect.gen(function* () {
      const db = yield* session
      const detach = ["use own", ...names.map((name) => `detach database if exists ${name}`)].join("; ")
      const results = Effect.andThen(
        attach(db),
        Effect.forEach(queries, (sql) => db.rows(sql))
      )
      return yield* Effect.ensuring(results, Effect.orDie(db.run(detach)))
    })
  )

/** Rows of each query on a database file, which is attached as `larder` and used. */
export const queryDatabase = (file: string, ...queries: ReadonlyArray<string>) =>
  queryAttached(["larder"], (db) => db.run(`attach ${literal(file)} as larder (read_only); use larder`), queries)

/** Rows of each query on several files, whose schemas need no database name. */
export const queryDatabases = (files: ReadonlyArray<string>, ...queries: ReadonlyArray<string>) =>
  queryAttached(
    files.map((_, index) => `file_${index}`),
    Effect.fnUntraced(function* (db) {
      yield* db.run(files.map((file, index) => `attach ${literal(file)} as file_${index} (read_only)`).join("; "))
      const schemas = yield* db.rows(
        "select database_name || '.' || schema_name as name from duckdb_schemas() where starts_with(database_name, 'file_')"
      )
      yield* db.run(`set search_path = '${schemas.map(({ name }) => name).join(",")}'`)
    }),
    queries
  )

const relations = `
  select schema_name || '.' || table_name as name from duckdb_tables() where database_name = 'larder'
  union all select schema_name || '.' || view_name from duckdb_views() where database_name = 'larder' and not internal
  order by all`

const comments = `
  select schema_name, table_name as relation, null as "column", comment from duckdb_tables() where database_name = 'larder'
  union all select schema_name, view_name, null, comment from duckdb_views() where database_name = 'larder' and not internal
  union all select schema_name, function_name, null, comment from duckdb_functions() where database_name = 'larder'
  union all select schema_name, table_name, column_name, comment from duckdb_columns() where database_name = 'larder'
  order by all`

/** Tables and views with their columns and rows, and all comments. The result is the same for a table and a view of it. */
export const readContents = Effect.fnUntraced(function* (file: string) {
  const db = yield* openAsAnalyst(file)
  const names = yield* db.all(NameRow, relations)
  const tables = yield* Effect.forEach(names, ({ name }) => {
    const relation = name.split(".").map(identifier).join(".")
    return Effect.all({
      name: Effect.succeed(name),
      columns: db.rows(`select column_name, column_type from (describe ${relation})`),
      rows: db.rows(`from ${relation} order by all`)
    })
  })
  return { tables, comments: yield* db.rows(comments) }
}, Effect.scoped)

type Contents = Effect.Success<ReturnType<typeof readContents>>

/** Tables of a file as the catalogue shows them: numbers of 18 digits have one more. */
export const widen = (tables: Contents["tables"]): Contents["tables"] =>
  tables.map((table) => ({
    ...table,
    columns: table.columns.map((column) => ({
      ...column,
      column_type: String(column.column_type).replaceAll(/DECIMAL\((?:18|9),/g, "DECIMAL(19,")
    }))
  }))

export const timeZones = ["UTC", "America/Chicago", "Asia/Kolkata"] as const

/** The rows of each query, by time zone of the session: no result may depend on it. */
export const queryInEachZone = Effect.fnUntraced(function* (file: string, queries: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-session-" })
  const db = yield* DuckDb.readWrite(`${folder}/own.duckdb`) // a database file has one connection, and so one session
  yield* db.run(`attach ${literal(file)} as larder (read_only); use larder`)
  const results = new Map<string, ReadonlyArray<ReadonlyArray<Row>>>()
  for (const zone of timeZones) {
    yield* db.run(`set TimeZone = ${literal(zone)}`)
    results.set(zone, yield* Effect.forEach(queries, (sql) => db.rows(sql)))
  }
  return results
}, Effect.scoped)
