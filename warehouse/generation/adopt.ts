/**
 * Beginning a generation with the staging file instead of a copy of the live one. Where the run's rows are most of what
 * there will be, writing them a second time would cost more than all the rest of the publication.
 */
import { Effect, FileSystem } from "effect"
import { define } from "../dictionary.ts"
import { DuckDb, identifier } from "../duckdb.ts"
import {
  checkResultTable,
  type DataSet,
  dataSets,
  ingestTables,
  leftOutTable,
  runTable,
  type Table
} from "../tables.ts"
import { haveDefinitionsChanged, requireSameTables } from "./definitions.ts"
import { attachLive } from "./layout.ts"

type Db = DuckDb["Service"]

const nameOf = (table: Table) => `${identifier(table.schema)}.${identifier(table.name)}`

const schemasOf = (db: Db) =>
  Effect.map(db.rows("select distinct schema_name from duckdb_tables() where database_name = 'live'"), (rows) =>
    rows.map(({ schema_name }) => String(schema_name))
  )

/**
 * Whether the staging file may become the new generation: the live one has nothing of this data set, is the smaller file,
 * and holds only tables that this version would define in the same way.
 */
export const canAdopt = Effect.fnUntraced(function* (dataSet: DataSet, stagedFile: string, live: string | undefined) {
  if (live === undefined) return true
  const fs = yield* FileSystem.FileSystem
  if ((yield* fs.stat(live)).size > (yield* fs.stat(stagedFile)).size) return false
  const db = yield* DuckDb.memory
  yield* attachLive(db, live)
  const schemas = (yield* schemasOf(db)).filter((schema) => schema !== "ingest")
  const others = dataSets.filter(({ schema }) => schemas.includes(schema))
  if (schemas.includes(dataSet.schema) || others.length < schemas.length) return false
  for (const other of others) {
    yield* define(db, other)
    const same = yield* requireSameTables(db, other, live).pipe(
      Effect.as(true),
      Effect.catchTag("TablesDiffer", () => Effect.succeed(false))
    )
    if (!same || (yield* haveDefinitionsChanged(db, other))) return false
  }
  return true
}, Effect.scoped)

/** Takes over what the live generation holds: the other data sets, and what `ingest` tells. */
export const takeOver = Effect.fnUntraced(function* (db: Db, live: string) {
  yield* attachLive(db, live)
  const schemas = yield* schemasOf(db)
  const others = dataSets.filter(({ schema }) => schemas.includes(schema))
  for (const other of others) yield* define(db, other)
  const tables = [runTable, checkResultTable, leftOutTable, ...ingestTables, ...others.flatMap((other) => other.tables)]
  for (const table of tables) {
    const columns = Object.keys(table.record.fields).map(identifier).join(", ")
    yield* db.run(`insert into ${nameOf(table)} (${columns}) select ${columns} from live.${nameOf(table)}`)
  }
  yield* db.run("detach live")
})
