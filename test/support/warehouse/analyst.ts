/** Everything that an analyst sees of a database file: columns, rows and comments. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import path from "node:path"
import { DuckDb, type DuckDbError, identifier, literal, type Row } from "@larder/warehouse"
import { Effect, FileSystem, Schema, Scope, Semaphore } from "effect"

const Named = Schema.Struct({ name: Schema.String })

/** A database file that is attached as `larder` and used, in a session of its own. */
export const openAsAnalyst = Effect.fnUntraced(function* (file: string) {
  const db = yield* DuckDb.memory
  yield* db.run(`attach ${literal(file)} as larder (read_only); use larder`)
  return db
})

/** The analyst's own DuckDB, one for all questions: an instance for each would take 30 ms of CPU. It ends with the process. */
const analyst = Effect.runSync(
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
const turns = Semaphore.makeUnsafe(1)

/** Rows of queries in the analyst's session, to which `attach` attaches files under these names. Afterwards none of them is open. */
const rowsWith = (
  names: ReadonlyArray<string>,
  attach: (db: DuckDb["Service"]) => Effect.Effect<void, DuckDbError>,
  queries: ReadonlyArray<string>
) =>
  turns.withPermit(
    Effect.gen(function* () {
      const db = yield* analyst
      const detach = ["use own", ...names.map((name) => `detach database if exists ${name}`)].join("; ")
      const asked = Effect.andThen(
        attach(db),
        Effect.forEach(queries, (sql) => db.rows(sql))
      )
      return yield* Effect.ensuring(asked, Effect.orDie(db.run(detach)))
    })
  )

/** Rows of a database file, which is attached as `larder` and used: one query after the other. */
export const queryDatabase = (file: string, ...queries: ReadonlyArray<string>) =>
  rowsWith(["larder"], (db) => db.run(`attach ${literal(file)} as larder (read_only); use larder`), queries)

/** Rows of files whose schemas are found without the name of a database. */
export const queryDatabases = (files: ReadonlyArray<string>, ...queries: ReadonlyArray<string>) =>
  rowsWith(
    files.map((_, at) => `asked_${at}`),
    Effect.fnUntraced(function* (db) {
      yield* db.run(files.map((file, at) => `attach ${literal(file)} as asked_${at} (read_only)`).join("; "))
      const schemas = yield* db.rows(
        "select database_name || '.' || schema_name as name from duckdb_schemas() where starts_with(database_name, 'asked_')"
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
  select schema_name, table_name as of, null as "column", comment from duckdb_tables() where database_name = 'larder'
  union all select schema_name, view_name, null, comment from duckdb_views() where database_name = 'larder' and not internal
  union all select schema_name, function_name, null, comment from duckdb_functions() where database_name = 'larder'
  union all select schema_name, table_name, column_name, comment from duckdb_columns() where database_name = 'larder'
  order by all`

/** Names of tables and views, columns with their types, rows, and all comments: the same for a table and a view of it. */
export const readContents = Effect.fnUntraced(function* (file: string) {
  const db = yield* openAsAnalyst(file)
  const found = yield* db.all(Named, relations)
  const tables = yield* Effect.forEach(found, ({ name }) => {
    const of = name.split(".").map(identifier).join(".")
    return Effect.all({
      name: Effect.succeed(name),
      columns: db.rows(`select column_name, column_type from (describe ${of})`),
      rows: db.rows(`from ${of} order by all`)
    })
  })
  return { tables, comments: yield* db.rows(comments) }
}, Effect.scoped)

export const timeZones = ["UTC", "America/Chicago", "Asia/Kolkata"] as const

/** The rows of each query, in a session of each time zone. */
export const queryInEachZone = Effect.fnUntraced(function* (file: string, queries: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "larder-session-" })
  const db = yield* DuckDb.readWrite(`${folder}/own.duckdb`) // its one connection is the session
  yield* db.run(`attach ${literal(file)} as larder (read_only); use larder`)
  const answers = new Map<string, ReadonlyArray<ReadonlyArray<Row>>>()
  for (const zone of timeZones) {
    yield* db.run(`set TimeZone = ${literal(zone)}`)
    answers.set(zone, yield* Effect.forEach(queries, (sql) => db.rows(sql)))
  }
  return answers
}, Effect.scoped)
